package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debs is where peers.sh has unpacked Debian's packages.
var debs = "../.cache/peers/root"

func libraries() string {
	all, _ := filepath.Glob(filepath.Join(debs, "usr/lib/*-linux-gnu"))
	return strings.Join(all, ":")
}

// program finds one of Debian's: unpacked, or installed.
func program(name string) (path, missing string) {
	for _, at := range []string{filepath.Join(debs, "usr/sbin", name), "/usr/sbin/" + name} {
		if _, err := os.Stat(at); err == nil {
			return at, ""
		}
	}
	if at, err := exec.LookPath(name); err == nil {
		return at, ""
	}
	return "", fmt.Sprintf("%s is not installed, and bench/peers.sh could not unpack Debian's package", name)
}

// kinds are all gateways that can be compared, by the way they are asked for. octets are builds of Octet by name.
func kinds(octets map[string]string, binaries string) []kind {
	var all []kind
	for _, name := range sorted(octets) {
		all = append(all, octet(name, octets[name]), octetOnNetHTTP(name, octets[name]),
			octetTraced(name, octets[name]))
	}
	all = append(all, nginx(), haproxy())
	for _, name := range []string{"reverseproxy", "gin", "bifrost"} {
		all = append(all, built(name, filepath.Join(binaries, name)))
	}
	return all
}

// built is a peer of this module.
func built(name, binary string) kind {
	k := kind{name: name}
	if _, err := os.Stat(binary); err != nil {
		k.missing = "it was not built: " + binary
	}
	k.command = func(_, listen, engine string) ([]string, error) {
		return []string{binary, "-listen", listen, "-upstream", engine}, nil
	}
	return k
}

func nginx() kind { return nginxWith("nginx", "", "", "") }

// nginxLimited answers 429 from its request limiter.
func nginxLimited() kind {
	return nginxWith("nginx", "", "", "limit_req zone=one; limit_req_status 429;")
}

// nginxWith has more directives of its server, more parameters of its listener, and more directives of its location.
func nginxWith(name, server, listener, location string) kind {
	path, missing := program("nginx")
	return kind{name: name, missing: missing, command: func(dir, listen, engine string) ([]string, error) {
		file := filepath.Join(dir, "nginx.conf")
		return []string{path, "-p", dir, "-e", "stderr", "-c", file},
			writeFile(file, fmt.Sprintf(nginxConfig, dir, engine, listen+listener, location,
				server, files()))
	}}
}

const nginxConfig = `daemon off; worker_processes 1; worker_rlimit_nofile %[6]d; pid %[1]s/pid; error_log stderr crit; user root;
events { worker_connections %[6]d; }
http {
  access_log off; tcp_nodelay on; keepalive_requests 100000000; keepalive_timeout 600s; client_max_body_size 8m; client_body_buffer_size 128k;
  client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  limit_req_zone $binary_remote_addr zone=one:1m rate=1r/m;
  upstream engine { server %[2]s; keepalive 8192; keepalive_requests 100000000; }
  server {
    listen %[3]s backlog=4096; %[5]s
    location / {
      %[4]s
      proxy_pass http://engine; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 600s;
    }
  }
}
`

func haproxy() kind {
	path, missing := program("haproxy")
	return kind{name: "haproxy", missing: missing, command: func(dir, listen, engine string) ([]string, error) {
		file := filepath.Join(dir, "haproxy.cfg")
		return []string{path, "-db", "-q", "-f", file}, writeFile(file, fmt.Sprintf(haproxyConfig, listen, engine))
	}}
}

const haproxyConfig = `global
  maxconn 9000
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  http-reuse always
  option http-no-delay
frontend in
  bind %s
  default_backend engine
backend engine
  server one %s pool-max-conn 8192
`
