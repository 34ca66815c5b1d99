package app_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echoing is an engine that answers with the id of the request, after a moment.
//
//nolint:lll // raw text that cannot be broken
func echoing(t *testing.T) string {
	t.Helper()
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"object":"list","data":[]}`)
			return
		}
		body, _ := io.ReadAll(r.Body)
		_, word, _ := strings.Cut(string(body), "mine: ")
		word, _, _ = strings.Cut(word, `"`)
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // real time: answers take as long as deadlines
		fmt.Fprintf(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"yours: %s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`, word)
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// Requests whose deadlines pass about when their answers come end themselves alone: one beside them, or after them on
// the same connection, is answered whole, with its own answer.
func TestALateEndOfOneRequestEndsNoOther(t *testing.T) {
	w := newWorld(t, fmt.Sprintf(openAlone, echoing(t)), nil)
	var clients sync.WaitGroup
	var over atomic.Bool
	var calm, late atomic.Int64
	for i := range 16 {
		clients.Go(func() {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.Data, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			answers := bufio.NewReader(conn)
			for n := 0; !over.Load(); n++ {
				id, deadline := fmt.Sprintf("%d-%d", i, n), ""
				if i < 12 {
					deadline = fmt.Sprintf("X-Deadline-Ms: %d\r\n", 1+rand.IntN(4))
				}
				body := `{"model":"open","messages":[{"role":"user","content":"mine: ` + id + `"}]}`
				fmt.Fprintf(
					conn,
					"POST /v1/chat/completions HTTP/1.1\r\nHost: octet\r\nContent-Type: "+
						"application/json\r\n%sContent-Length: %d\r\n\r\n%s", deadline, len(body), body)
				resp, err := http.ReadResponse(answers, &http.Request{Method: http.MethodPost})
				if err != nil {
					t.Error(id, err)
					return
				}
				text, err := io.ReadAll(resp.Body)
				own := strings.Contains(string(text), "yours: "+id+`"`)
				switch {
				case err != nil, resp.StatusCode == 500, resp.StatusCode == 200 && !own, deadline == "" &&
					resp.StatusCode != 200:
					t.Errorf("%s %q: status %d, %v: %s", id, deadline, resp.StatusCode, err, text)
				case resp.StatusCode == 200:
					calm.Add(1)
				default:
					late.Add(1)
				}
			}
		})
	}
	time.Sleep(2 * time.Second) // real time: the load lasts so long
	over.Store(true)
	clients.Wait()
	if calm.Load() == 0 || late.Load() == 0 {
		t.Errorf("%d were answered and %d late: both are needed", calm.Load(), late.Load())
	}
}
