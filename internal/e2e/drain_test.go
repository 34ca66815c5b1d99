package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"octet/internal/await"
)

const crowdYAML = `
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
limits: {drain: 60s}
fleet: {probe_interval: 100ms}
specialists:
  - name: debug
    tokenizer: builtin
    scheduler: {max_running: 4096}
    replicas: [{url: "%s"}]
`

// crowd is a number of streams that are open at once.
type crowd struct {
	t       *testing.T
	client  *http.Client
	url     string
	begun   sync.WaitGroup // every stream has its first byte
	answers chan string
}

const crowdTokens = 20

// open begins one stream and follows it to its end.
func (c *crowd) open() {
	begun := sync.OnceFunc(c.begun.Done)
	defer begun()
	body := strings.Replace(ask, `"max_tokens":5`, fmt.Sprintf(`"max_tokens":%d`, crowdTokens), 1)
	resp, err := c.client.Post(c.url, "application/json", strings.NewReader(body))
	if err != nil {
		c.answers <- err.Error()
		return
	}
	defer resp.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(resp.Body, first)
	begun()
	rest, end := io.ReadAll(resp.Body)
	all := string(first) + string(rest)
	c.answers <- fmt.Sprint(err, end, strings.Count(all, "⟦"), strings.HasSuffix(all, "[DONE]\n\n"))
}

// Promise 7: a thousand streams that are open when SIGTERM comes all come to their end, every token of them.
func TestADrainLosesNothing(t *testing.T) {
	const streams = 1000
	engine := engine(t, "debug", "--step", "150ms", "--max-running", "4096", "--blocks", "16384")
	p, data, _, _ := gateway(t, fmt.Sprintf(crowdYAML, engine))
	c := &crowd{t: t, client: &http.Client{Transport: &http.Transport{}}, url: data + "/v1/chat/completions",
		answers: make(chan string, streams)}
	defer c.client.CloseIdleConnections()
	for range streams {
		c.begun.Add(1)
		go c.open()
	}
	c.begun.Wait()
	_ = p.Signal(syscall.SIGTERM)
	p.await(fmt.Sprintf("msg=draining open=%d", streams))
	await.True(t, "readyz says draining", func() bool {
		resp, err := http.Get(data + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == 503
	})
	if status, answer := post(t, c.url, ask); status != 503 || !strings.Contains(answer, `"draining"`) {
		t.Errorf("a new request while draining: status %d: %s", status, answer)
	}
	for range streams {
		if got := <-c.answers; got != fmt.Sprint(nil, nil, crowdTokens, true) {
			t.Errorf("a stream ended in %s", got)
		}
	}
	if code := p.code(); code != 0 {
		t.Errorf("exit code %d:\n%.2000s", code, p.output())
	}
}

// What is still open when the grace is over ends in a typed error, and the program in order.
func TestADrainEndsAfterItsGrace(t *testing.T) {
	url := engine(t, "debug")
	p, data, _, _ := gateway(t, fmt.Sprintf(strings.Replace(gatewayYAML, "20s", "300ms", 1), url))
	post(t, url+"/admin/faults", `{"kind":"hang_after_tokens","k":2}`)
	resp, err := http.Post(data+"/v1/chat/completions", "application/json", strings.NewReader(ask))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	begun := time.Now()
	_ = p.Signal(syscall.SIGTERM)
	all, err := io.ReadAll(resp.Body)
	if said := string(all); err == nil || strings.Contains(said, "[DONE]") ||
		strings.Count(said, `"code":"draining"`) != 1 || strings.Count(said, "⟦") != 2 {
		t.Errorf("%v: %s", err, said)
	}
	if code := p.code(); code != 0 || time.Since(begun) < 300*time.Millisecond {
		t.Errorf("exit code %d after %v:\n%s", code, time.Since(begun), p.output())
	}
}

// Connections without a whole head do not keep a drain, or make it a failure, and neither does a body that never comes.
func TestADrainOfConnectionsWithoutARequestExitsWithZero(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		for name, c := range map[string]struct {
			sent, drain string
			cut         bool
		}{
			"silent":      {"", "20s", false},
			"half a head": {"GET /livez HTTP/1.1\r\nHost", "20s", false},
			"idle":        {"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", "20s", false},
			"half a body": {
				"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " +
					"99\r\n\r\n{", "300ms", true},
		} {
			url := engine(t, "debug")
			p, data, _, _ := gateway(t,
				"front: "+front+"\n"+fmt.Sprintf(strings.Replace(gatewayYAML, "20s", c.drain, 1), url))
			conn, err := net.Dial("tcp", strings.TrimPrefix(data, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprint(conn, c.sent)
			time.Sleep(100 * time.Millisecond) // real time: the process reads what was sent
			code := p.stop(syscall.SIGTERM)
			if cut := strings.Contains(p.output(), "connections are cut"); code != 0 || cut != c.cut {
				t.Errorf("%s, %s: exit code %d, cut %v:\n%s", front, name, code, cut, p.output())
			}
		}
	}
}
