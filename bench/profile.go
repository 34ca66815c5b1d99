package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// adminFile says where a gateway can be asked for profiles; only Octet writes one.
const adminFile = "admin"

// profile has p profiled while a measurement runs; the returned func waits for the file, which the last round leaves.
func (o options) profile(p *peer, row string) (done func()) {
	admin, err := os.ReadFile(filepath.Join(p.dir, adminFile))
	if o.profiles == "" || err != nil {
		return func() {}
	}
	seconds := max(int(o.span.Seconds()), 1)
	url := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, seconds)
	file := filepath.Join(o.profiles, strings.ReplaceAll(p.name+"-"+row, "/", "-")+".pprof")
	var running sync.WaitGroup
	running.Go(func() {
		if err := fetch(url, file); err != nil {
			fmt.Fprintln(os.Stderr, "no profile:", err)
		}
	})
	return running.Wait
}

func fetch(url, file string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
