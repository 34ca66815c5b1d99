package app_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"octet/app"
	"octet/config"
	"octet/routing/events/zmtp"
	"octet/routing/plugins"
)

// recorded is an engine that answers what was recorded of one.
func recorded(t *testing.T, answers map[string]string, metrics string, published func()) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "engine", "openai", "testdata", metrics))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch answer, ok := answers[r.URL.Path]; {
		case r.URL.Path == "/metrics":
			_, _ = w.Write(page)
		case r.URL.Path == "/v1/completions" && r.Method == http.MethodPost:
			cached := 0
			if asked.Add(1) > 1 {
				cached = 64
			} else if published != nil {
				published()
			}
			fmt.Fprintf(w,
				`{"id":"cmpl-1","object":"text_completion","model":"base-model","choices":[{"index":0,"text":"a",`+
					`"finish_reason":"length"}],"usage":{"prompt_tokens":70,"completion_tokens":1,"total_tokens":71,`+
					`"prompt_tokens_details":{"cached_tokens":%d}}}`, cached)
		case ok:
			_, _ = w.Write([]byte(answer))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

var (
	vllmAnswers = map[string]string{"/health": "", "/version": `{"version":"0.10.0"}`,
		"/v1/models": `{"object":"list","data":[{"id":"base-model","object":"model","owned_by":"vllm",` +
			`"root":"base-model",` +
			`"parent":null,"max_model_len":512}]}`}
	llamaAnswers = map[string]string{"/health": `{"status":"ok"}`,
		"/props": `{"default_generation_settings":{"n_ctx":8192},"total_slots":4,"build_info":"b4748-1"}`,
		"/v1/models": `{"object":"list","data":[{"id":"model.gguf","object":"model","owned_by":"llamacpp",` +
			`"meta":{"n_ctx_train":8192,"size":1000}}]}`}
)

// sound fails for each finding that does not pass.
func sound(t *testing.T, yaml string) {
	t.Helper()
	cfg, err := config.Parse("recorded.yaml", []byte(yaml), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	found, err := app.Examine(t.Context(), cfg, nil)
	if err != nil || len(found) < 15 {
		t.Fatalf("%v: %+v", err, found)
	}
	for _, f := range found {
		if f.Status != "pass" {
			t.Errorf("a false alarm: %+v", f)
		}
	}
}

// Issue 22: nothing is wrong with engines that answer what was recorded.
func TestDoctorFindsNothingInRecordedEngines(t *testing.T) {
	for _, kind := range []string{"auto", "vllm"} {
		sound(t, fmt.Sprintf("specialists: [{name: coder, replicas: [{url: %q, model: base-model, engine: %s}]}]",
			recorded(t, vllmAnswers, "vllm_like_metrics.txt", nil), kind))
	}
	for _, kind := range []string{"auto", "llamacpp"} {
		sound(t, fmt.Sprintf("specialists: [{name: coder, replicas: [{url: %q, engine: %s}]}]",
			recorded(t, llamaAnswers, "llamacpp_metrics.txt", nil), kind))
	}
}

// Issue 22: nor with the sockets of engines that publish what was recorded.
func TestDoctorFindsNothingInRecordedEvents(t *testing.T) {
	dir := os.Getenv("OCTET_SHARED")
	if dir == "" {
		t.Skip("OCTET_SHARED does not say where the recordings are")
	}
	files, err := filepath.Glob(filepath.Join(dir, "data/wire/*.live.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			live, publish := publishing(t, "PUB", frames(t, file))
			again, _ := publishing(t, "ROUTER", nil)
			sound(t, fmt.Sprintf(`specialists: [{name: coder, replicas: [{url: %q, model: base-model, engine: vllm, `+
				`events: {zmq: "tcp://%s", replay: "tcp://%s"}}]}]`,
				recorded(t, vllmAnswers, "vllm_like_metrics.txt", publish), live, again))
		})
	}
}

// frames returns the messages of a recording.
func frames(t *testing.T, file string) (all [][][]byte) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m struct {
			Topic   string `json:"topic"`
			Seq     string `json:"seq_hex"`
			Payload string `json:"payload_hex"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		seq, _ := hex.DecodeString(m.Seq)
		payload, _ := hex.DecodeString(m.Payload)
		all = append(all, [][]byte{[]byte(m.Topic), seq, payload})
	}
	return all
}

// publishing returns where a socket of that kind listens, and what sends its messages to the peer that has asked for
// something. A ROUTER says at once that it has nothing to replay.
func publishing(t *testing.T, kind string, messages [][][]byte) (address string, publish func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	peers := make(chan *zmtp.Conn, 8)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conn, err := zmtp.Open(c, kind, zmtp.Limits{Message: 1 << 16, Frames: 8})
			if err != nil {
				_ = c.Close()
				continue
			}
			if _, err := conn.Receive(); err != nil {
				_ = conn.Close()
				continue
			}
			if kind == "ROUTER" {
				_ = conn.Send(nil, []byte(strings.Repeat("\xff", 8)), nil)
			}
			peers <- conn
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
		close(peers)
		for conn := range peers {
			_ = conn.Close()
		}
	})
	return l.Addr().String(), func() {
		conn := <-peers
		for _, m := range messages {
			_ = conn.Send(m...)
		}
		peers <- conn
	}
}
