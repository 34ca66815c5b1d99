package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"octet/internal/await"
	"octet/internal/program"
)

const (
	maxVirtual = 8 << 20 // KiB of address space that a gateway may have here
	maxRSS     = 600     // MiB that it may have had in memory at most
)

// limitedGateway is gateway with bounded address space: what would end it on a small machine ends it here.
func limitedGateway(t testing.TB, yaml string) (p *running, data, admin string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	process, err := program.Start("/bin/sh", "-c",
		fmt.Sprintf(`ulimit -v %d; exec "$0" serve --config "$1"`, maxVirtual), binary, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	p = &running{process, t}
	m := p.await(`msg=serving data=(\S+) admin=(\S+)`)
	return p, "http://" + m[1], "http://" + m[2]
}

// peak is the most memory that the process has had so far, in MiB.
func (p *running) peak() int {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || m == nil {
		p.t.Fatalf("%v in %s", err, status)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n >> 10
}

// hostileServer says hello to each connection, and answers the first word of each line that asks for something by
// other.
func hostileServer(t *testing.T, hello string, words *regexp.Regexp, other func(word string) string) (addr string,
	answered *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	answered = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = c.Write([]byte(hello))
				for in := bufio.NewScanner(c); in.Scan(); {
					if word := words.FindString(in.Text()); word != "" {
						_, _ = c.Write([]byte(other(strings.ToLower(word))))
						answered.Add(1)
					}
				}
			}()
		}
	}()
	return l.Addr().String(), answered
}

const hostileYAML = `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
limits: {drain: 20s}
auth: {anonymous_limits: {rate: {requests_per_second: 1000}}, %s}
events: {%s}
specialists:
  - name: debug
    tokenizer: builtin
    replicas: [{url: "%s"}]
`

// costsNothing fails unless the gateway serves, stays small, and ends by SIGTERM, with a server that has answered
// often.
func costsNothing(t *testing.T, yaml string, answered *atomic.Int64) {
	t.Helper()
	p, data, _ := limitedGateway(t, yaml)
	for round := int64(1); round <= 5; round++ {
		await.True(t, "another answer", func() bool { return answered.Load() >= round })
		if status, body := post(t, data+"/v1/chat/completions", ask); status != 200 {
			t.Fatalf("%d %s\n%s", status, body, p.output())
		}
	}
	if mib := p.peak(); mib > maxRSS {
		t.Errorf("%d MiB", mib)
	}
	if code := p.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d:\n%.4000s", code, p.output())
	}
}

// A1 of the issue: 22 bytes from a server at the address of Redis ended the process.
func TestAHostileRedisCostsNothing(t *testing.T) {
	url := engine(t, "debug")
	commands := regexp.MustCompile(`(?i)^(hello|client|auth|select|xread|xinfo|xadd|evalsha|eval|ping|multi|script)$`)
	for _, reply := range []string{
		"*9223372036854775807\r\n", "*1000000000\r\n", "$2000000000\r\n", "%1000000000\r\n", "~1000000000\r\n",
		">1000000000\r\n", "|1000000000\r\n",
		strings.Repeat("*1\r\n", 1<<20),
	} {
		for _, toHello := range []bool{true, false} {
			t.Run(fmt.Sprintf("%.20q to HELLO %t", reply, toHello), func(t *testing.T) {
				addr, answered := hostileServer(t, "", commands, func(word string) string {
					if word == "hello" && !toHello {
						return "%1\r\n+server\r\n+redis\r\n"
					}
					return reply
				})
				costsNothing(t, fmt.Sprintf(hostileYAML, "shared: {addr: "+strconv.Quote(addr)+"}",
					"redis: {addr: "+strconv.Quote(addr)+"}", url), answered)
			})
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestAHostileNATSCostsNothing(t *testing.T) {
	const info = `INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576,"headers":true,"jetstream":true}` + "\r\n"
	url := engine(t, "debug")
	commands := regexp.MustCompile(`^(CONNECT|PING|PUB|HPUB|SUB) ?`)
	for name, row := range map[string]struct{ hello, pong, other string }{
		"a message of 2 GB":      {info, "PONG\r\n", "MSG a 1 2000000000\r\nx"},
		"an endless message":     {info, "PONG\r\n", "HMSG a 1 12 9223372036854775807\r\n"},
		"instead of PONG":        {info, "MSG a 1 2000000000\r\nx", ""},
		"a line without an end":  {info, "PONG\r\n", "MSG " + strings.Repeat("a", 64<<20)},
		"an INFO without an end": {"INFO " + strings.Repeat("a", 64<<20), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			addr, answered := hostileServer(t, row.hello, commands, func(word string) string {
				switch strings.TrimSpace(word) {
				case "ping":
					return row.pong
				case "sub", "pub", "hpub":
					return row.other
				}
				return ""
			})
			if row.pong == "" {
				answered.Store(5) // the client has left before it asks
			}
			costsNothing(t, fmt.Sprintf(hostileYAML, "anonymous: true",
				"nats: {url: "+strconv.Quote("nats://"+addr)+"}", url), answered)
		})
	}
}
