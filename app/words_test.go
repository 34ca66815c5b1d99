package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"octet/app"
	"octet/config"
	"octet/routing/plugins"
)

const secretWords = "max_tokens must be fine at 10.1.2.3:9999 with key sk-very-secret in /srv/model"

// refusing is an engine that answers chats with a status and words of its own, streamed or not.
func refusing(t *testing.T, status int) string {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"messages"`) || r.URL.Path != "/v1/chat/completions" {
			return
		}
		if status == 200 { // an error object as the first event
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(
				w,
				"data: {\"error\":{\"message\":%q,\"type\":\"InternalServerError\",\"code\":500}}\n\ndata: [DONE]\n\n",
				secretWords)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"x","param":null,"code":%d}}`, secretWords, status)
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// C8: engines' words, with addresses, keys and paths in them, went to clients and into their receipts. The operator
// still reads them.
func TestAnEnginesWordsAreForItsOperator(t *testing.T) {
	for _, status := range []int{200, 400, 401, 404, 413, 422, 429, 500, 503} {
		yaml := "specialists: [{name: debug, tokenizer: none, replicas: [{url: '" + refusing(t,
			status) + "', blocks: 512}]}]\n"
		w := newWorld(t, yaml, nil)
		for _, body := range []string{toDebug, streamed(toDebug)} {
			if status == 200 && body == toDebug {
				continue
			}
			resp, answer := w.Post("/v1/chat/completions", body)
			id := resp.Header.Get("X-Receipt-Id")
			own, ownBody := w.read(w.Data + "/v1/receipts/" + id)
			all, operators := w.read(w.Admin + "/admin/receipts/" + id)
			if own != 200 || all != 200 {
				t.Fatalf("%d: receipts: %d and %d", status, own, all)
			}
			for where, text := range map[string]string{"answer": string(answer), "receipt": ownBody,
				"head": fmt.Sprint(resp.Header)} {
				if strings.Contains(text, "sk-very-secret") || strings.Contains(text, "10.1.2.3") {
					t.Errorf("%d: the %s has the engine's words: %s", status, where, text)
				}
			}
			if !strings.Contains(operators, "sk-very-secret") {
				t.Errorf("%d: the operator's receipt has them not: %s", status, operators)
			}
			var e errorBody
			_ = json.Unmarshal(answer, &e) // a stream's is no object
			if status == 400 && (e.Error.Param == nil || *e.Error.Param != "max_tokens") {
				t.Errorf("%d: the parameter is not named: %s", status, answer)
			}
		}
	}
}

func (w *world) read(url string) (int, string) {
	w.T.Helper()
	resp, err := http.Get(url)
	if err != nil {
		w.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.T.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// An address that cannot be dialled is in no client's receipt.
func TestAReceiptTellsClientsNoAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	w := newWorld(t, "specialists: [{name: debug, tokenizer: none, replicas: [{url: 'http://"+address+
		"', blocks: 512}]}]\n", nil)
	resp, answer := w.Post("/v1/chat/completions", toDebug)
	_, text := w.read(w.Data + "/v1/receipts/" + resp.Header.Get("X-Receipt-Id"))
	if all := string(answer) + text; strings.Contains(all, address) || strings.Contains(all, "dial tcp") {
		t.Errorf("told: %s", all)
	}
}

// A replica whose URL leads back here: each round began another, 65 deep, until the deadline ended them all.
func TestARequestThatComesBackEndsAtOnce(t *testing.T) {
	var rounds atomic.Int64
	var data atomic.Pointer[string]
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || data.Load() == nil {
			return // a probe
		}
		rounds.Add(1)
		req, _ := http.NewRequestWithContext(r.Context(), r.Method, *data.Load()+r.URL.Path, r.Body)
		req.Header = r.Header
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	t.Cleanup(mirror.Close)
	yaml := "limits: {max_attempts: 1}\nspecialists: [{name: debug, tokenizer: none, replicas: [{url: '" + mirror.URL +
		"', blocks: 4096}]}]\n"
	w := newWorld(t, yaml, nil)
	data.Store(&w.Data)
	for _, body := range []string{toDebug, streamed(toDebug)} {
		rounds.Store(0)
		resp, answer := w.Post("/v1/chat/completions", body)
		if resp.StatusCode != 502 || rounds.Load() != 1 {
			t.Errorf("status %d after %d rounds: %s", resp.StatusCode, rounds.Load(), answer)
		}
	}
	through, _ := w.Post("/v1/chat/completions", toDebug, "X-Octet-Via", strings.Repeat("a-gateway,", 9)+"last")
	if through.StatusCode != 502 {
		t.Errorf("through ten gateways: status %d", through.StatusCode)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// What check says of a file is what serve says of it: the commands that would be run are there.
func TestCheckAndServeFindTheSameFaults(t *testing.T) {
	for _, text := range []string{
		"outcomes: {verifier: {sample: 0.1, command: [no-such-compiler, '{}']}}\n",
		"shadow: {judge: {command: [no-such-judge]}}\n",
	} {
		text += "specialists: [{name: debug, replicas: [{url: 'http://127.0.0.1:9'}]}]\n"
		cfg, err := config.Parse("octet.yaml", []byte(text), config.Options{Presets: plugins.Presets()})
		if err != nil {
			t.Fatal(err)
		}
		found := app.CommandFaults("octet.yaml", cfg)
		if found == nil || !strings.Contains(found.Error(), "no-such-") {
			t.Errorf("check finds %v in %s", found, text)
		}
	}
}
