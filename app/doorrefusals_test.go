package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// Issue 20: what is refused at a door is refused in its words, wherever in the gateway that is, and says by which door.
func TestDoorsRefuseInTheirOwnWords(t *testing.T) {
	const typed = "Content-Type: application/json\r\n"
	auth := "Authorization: Bearer " + key + "\r\n"
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, smallWorld, smallEngines(), tenants("front="+front)...)
		for name, c := range map[string]struct {
			line, fields string
			status       int
			code         apierr.Code
		}{
			"no key":         {"POST %s", typed, 401, apierr.InvalidAPIKey},
			"another method": {"GET %s", auth, 405, apierr.MethodNotAllowed},
			"nothing there":  {"GET %s/batches/1", auth, 404, apierr.RouteNotFound},
			"no JSON":        {"POST %s?beta=true", auth, 415, apierr.UnsupportedMediaType},
			"a large body": {"POST %s", typed + auth + "Content-Length: 99999999999\r\n", 413,
				apierr.PayloadTooLarge},
			"many fields": {"POST %s?beta=true", auth + strings.Repeat("X-Many: x\r\n", 2000), 431,
				apierr.HeaderTooLarge},
			"two lengths": {"POST %s", auth + "Content-Length: 1\r\nContent-Length: 1\r\n", 400,
				apierr.InvalidRequest},
			"a path of two meanings": {"POST %s%%2Fx", auth, 400, apierr.InvalidRequest},
		} {
			for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens", "/v1/responses"} {
				resp, body := askRaw(t, w, fmt.Sprintf(c.line, path)+" HTTP/1.1\r\nHost: x\r\n"+c.fields+"\r\n")
				var said struct {
					Type      string
					RequestID string `json:"request_id"`
					Error     struct{ Type, Code, Message string }
				}
				err := json.Unmarshal(body, &said)
				ours := (said.Type == "error") == strings.HasPrefix(path, "/v1/messages")
				if err != nil || !ours || resp.StatusCode != c.status || said.Error.Code != string(c.code) ||
					said.Error.Type == "" || said.RequestID != resp.Header.Get("X-Request-Id") ||
					resp.Header.Get("X-Door") != "translated" {
					t.Errorf("%s, %s at %s: %d %v %s", front, name, path, resp.StatusCode, resp.Header, body)
				}
			}
		}
		if resp, body := askRaw(t, w, "GET /v1/messagesx HTTP/1.1\r\nHost: x\r\n\r\n"); resp.StatusCode != 404 ||
			strings.HasPrefix(string(body), `{"type"`) || resp.Header.Get("X-Door") != "" {
			t.Errorf("beside the doors: %v %s", resp.Header, body)
		}
	}
}

// askRaw sends a head as it is.
func askRaw(t *testing.T, w *world, head string) (*http.Response, []byte) {
	t.Helper()
	c := w.dial()
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// An Idempotency-Key is used for what the client sent, in the words of its door: how that is translated may change.
func TestAKeyIsUsedForWhatWasSentToADoor(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	const body, spaced = `{"model":"debug","max_tokens":2,"messages":[{"role":"user","content":"hi"}]}`,
		`{"max_tokens":2,"model":"debug","messages":[{"role":"user","content":"hi"}]}`
	for i, row := range []struct {
		body   string
		status int
	}{{body, 200}, {body, 200}, {spaced, 409}} {
		if resp, answer := w.Post(messagesPath, row.body, "Idempotency-Key", "k"); resp.StatusCode != row.status {
			t.Errorf("%d: status %d, want %d: %s", i, resp.StatusCode, row.status, answer)
		}
	}
}
