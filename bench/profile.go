package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	pprof "github.com/google/pprof/profile"
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
	p, err := pprof.Parse(resp.Body)
	if err != nil {
		return err
	}
	nowhere(p)
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(out), out.Close())
}

// nowhere takes the machine's directories off p, which a compiler has no use for.
func nowhere(p *pprof.Profile) {
	for _, m := range p.Mapping {
		m.File, m.BuildID = filepath.Base(m.File), ""
	}
	for _, f := range p.Function {
		f.Filename = filepath.Base(f.Filename)
	}
}
