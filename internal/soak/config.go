package main

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// configuration is the gateway's file: the defaults, but for what names this fleet.
func (f *fleet) configuration() string {
	var b strings.Builder
	b.WriteString("listen: {data: 127.0.0.1:0, admin: 127.0.0.1:0}\nfleet: {probe_interval: 500ms}\n")
	b.WriteString("auth:\n  tenants:\n")
	for _, t := range tenants[1:] {
		fmt.Fprintf(&b, "    - {name: %s, key_sha256: %x}\n", t.name, sha256.Sum256([]byte(t.key)))
	}
	b.WriteString("specialists:\n")
	for _, s := range specialists {
		fmt.Fprintf(&b, "  - name: %s\n    tokenizer: %s\n", s.name, s.tokenizer)
		if len(s.adapters) > 0 {
			b.WriteString("    adapters:\n")
		}
		for _, a := range s.adapters {
			fmt.Fprintf(&b, "      - {name: %s, path: /adapters/%s}\n", a, a)
		}
		b.WriteString("    replicas:\n")
		for _, m := range f.engines {
			if m.model == s.name {
				fmt.Fprintf(
					&b,
					"      - {url: \"http://127.0.0.1:%s\", name: %s, engine: %s, events: {zmq: "+
						"\"tcp://127.0.0.1:%s\", replay: \"tcp://127.0.0.1:%s\"}}\n",
					m.port, m.name, s.kind, m.live, m.back)
			}
		}
	}
	return b.String()
}
