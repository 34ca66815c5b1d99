package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// BenchmarkOpenStreams reports the resident memory of the gateway's process for each open, quiet stream: the slope
// between 250 and 1,250 of them.
func BenchmarkOpenStreams(b *testing.B) {
	const few, many = 250, 1250
	yaml := `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 4096}
    replicas: [{url: "%s"}]
`
	url := engine(b, "debug", "--max-running", "4096", "--blocks", "65536")
	p, data, _, _ := gateway(b, fmt.Sprintf(yaml, url))
	post(b, url+"/admin/faults", `{"kind":"hang_after_tokens","k":1,"times":0}`)
	client := &http.Client{Transport: &http.Transport{}}
	open := func(n int) {
		var opening sync.WaitGroup
		for range n {
			opening.Go(func() {
				resp, err := client.Post(data+"/v1/chat/completions", "application/json", strings.NewReader(ask))
				if err != nil {
					b.Error(err)
					return
				}
				b.Cleanup(func() { resp.Body.Close() })
				_, _ = resp.Body.Read(make([]byte, 1))
			})
		}
		opening.Wait()
	}
	if b.N > 1 {
		b.Skip("once is enough: -benchtime 1x")
	}
	open(few)
	before := resident(b, p.Pid())
	open(many - few)
	b.ReportMetric(float64(resident(b, p.Pid())-before)/(many-few), "KiB/stream")
	b.ReportMetric(0, "ns/op")
}

// resident returns a process's resident memory, KiB.
func resident(b *testing.B, pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("needs /proc: ", err)
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		b.Fatal(err)
	}
	return kib
}
