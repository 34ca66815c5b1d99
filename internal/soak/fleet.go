package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"octet/internal/program"
)

// machine is one engine: where it listens, and its process, which comes and goes.
type machine struct {
	name, model      string
	port, live, back string // of HTTP, of cache events and of their replay
	adapters         []string

	mu      sync.Mutex
	process *program.Program // guarded by mu
}

// fleet is the gateway and its engines.
type fleet struct {
	binary      string
	engines     []*machine
	gateway     *program.Program
	data, admin string // URLs
}

// specialist is a model, how many engines have it, and of what kind the gateway takes them to be.
type specialist struct {
	name, kind string
	tokenizer  string
	engines    int
	resumable  bool // its streams go on at another engine
	adapters   []string
}

var specialists = []specialist{
	{name: "alpha", kind: "auto", tokenizer: "builtin", engines: 3, resumable: true},
	{name: "beta", kind: "vllm", tokenizer: "engine", engines: 2, resumable: true, adapters: []string{"red", "blue"}},
	{name: "gamma", kind: "openai", tokenizer: "none", engines: 2},
}

// tenants are those of the configuration, before them the clients without a key.
var tenants = []struct{ name, key string }{{}, {"heavy", "key-of-the-heavy-tenant"},
	{"light", "key-of-the-light-tenant"}}

// freePort returns a TCP port that is free now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }() // only its port is of use
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// open starts the engines and the gateway. dir holds the configuration.
func open(binary, dir string) (*fleet, error) {
	f := &fleet{binary: binary}
	for _, s := range specialists {
		for i := range s.engines {
			m := &machine{name: fmt.Sprintf("%s-%d", s.name, i), model: s.name, adapters: s.adapters}
			for _, port := range []*string{&m.port, &m.live, &m.back} {
				var err error
				if *port, err = freePort(); err != nil {
					return f, err
				}
			}
			if err := m.start(binary); err != nil {
				return f, err
			}
			f.engines = append(f.engines, m)
		}
	}
	path := filepath.Join(dir, "octet.yaml")
	if err := os.WriteFile(path, []byte(f.configuration()), 0o600); err != nil {
		return f, err
	}
	var err error
	if f.gateway, err = program.Start(binary, "serve", "--config", path); err != nil {
		return f, err
	}
	at, err := f.gateway.Await(`msg=serving data=(\S+) admin=(\S+)`, 30*time.Second)
	if err != nil {
		return f, err
	}
	f.data, f.admin = "http://"+at[1], "http://"+at[2]
	return f, nil
}

// close kills what still runs.
func (f *fleet) close() {
	if f.gateway != nil {
		f.gateway.Kill()
	}
	for _, m := range f.engines {
		m.kill()
	}
}

// start starts the engine's process and waits until it listens.
func (m *machine) start(binary string) error {
	args := []string{"engine", "--listen", "127.0.0.1:" + m.port, "--name", m.name, "--model", m.model, "--step",
		"10ms",
		"--blocks", "4096", "--zmq", "tcp://127.0.0.1:" + m.live, "--zmq-replay", "tcp://127.0.0.1:" + m.back}
	for _, a := range m.adapters {
		args = append(args, "--adapter", a)
	}
	p, err := program.Start(binary, args...)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.process = p
	m.mu.Unlock()
	_, err = p.Await(`engine \S+ on `, 30*time.Second)
	return err
}

func (m *machine) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil {
		m.process.Kill()
	}
}
