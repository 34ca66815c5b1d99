package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// What two readers of a head could take for different requests is refused by its name, on both fronts.
func TestAmbiguousHeadsAreRefused(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, smallWorld, smallEngines(), tenants("front="+front)...)
		const typed = "Content-Type: application/json\r\n"
		auth := "Authorization: Bearer " + key + "\r\n"
		for name, c := range map[string]struct {
			method, target, fields string
			status                 int
			code                   apierr.Code
			param                  string
		}{
			"one of each": {"POST", "/v1/chat/completions", typed + auth, 200, "", ""},
			"two keys": {"POST", "/v1/chat/completions",
				typed + auth + "Authorization: Bearer other\r\n", 400, apierr.InvalidValue, "Authorization"},
			"a key twice": {"POST", "/v1/route", typed + auth + auth, 400, apierr.InvalidValue,
				"Authorization"},
			"two keys for a list": {"GET", "/v1/models", auth + auth, 400, apierr.InvalidValue,
				"Authorization"},
			"two keys for a verdict": {"POST", "/v1/outcomes", typed + auth + auth, 400, apierr.InvalidValue,
				"Authorization"},
			"two types": {"POST", "/v1/chat/completions", typed + typed + auth, 400,
				apierr.InvalidValue, "Content-Type"},
			"two types for a verdict": {"POST", "/v1/outcomes", typed + typed + auth, 400, apierr.InvalidValue,
				"Content-Type"},
			"no type": {"POST", "/v1/chat/completions", auth, 415, apierr.UnsupportedMediaType,
				"Content-Type"},
			"no type of a completion": {"POST", "/v1/completions", auth, 415, apierr.UnsupportedMediaType,
				"Content-Type"},
			"no type of a route": {"POST", "/v1/route", auth, 415, apierr.UnsupportedMediaType,
				"Content-Type"},
			"no type of a verdict": {"POST", "/v1/outcomes", auth, 415, apierr.UnsupportedMediaType,
				"Content-Type"},
			"a form": {"POST", "/v1/chat/completions", "Content-Type: text/plain\r\n" + auth, 415,
				apierr.UnsupportedMediaType, "Content-Type"},
			"an encoded slash": {"POST", "/v1%2Fchat/completions", typed + auth, 400, apierr.InvalidRequest,
				""},
			"in lower case": {"POST", "/v1/chat%2fcompletions", typed + auth, 400, apierr.InvalidRequest,
				""},
			"an encoded backslash": {"POST", "/v1%5Cchat/completions", typed + auth, 400, apierr.InvalidRequest,
				""},
			"encoded dots": {"POST", "/v1/x/%2e%2E/chat/completions", typed + auth, 400,
				apierr.InvalidRequest, ""},
			"an encoded dot":         {"GET", "/v1/models/a%2eb", auth, 400, apierr.InvalidRequest, ""},
			"another encoded letter": {"POST", "/v1/%63hat/completions", typed + auth, 200, "", ""},
			"a slash in a query":     {"POST", "/v1/chat/completions?a=%2F", typed + auth, 200, "", ""},
		} {
			t.Run(front+" "+name, func(t *testing.T) {
				conn := w.dial()
				fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", c.method, c.target,
					c.fields, len(systems), systems)
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(resp.Body)
				switch {
				case err != nil:
					t.Error(err)
				case c.status != 200:
					checkError(t, resp, answer, c.status, c.code, c.param)
				case resp.StatusCode != 200:
					t.Errorf("status %d: %s", resp.StatusCode, answer)
				}
			})
		}
	}
}

func TestTheAdminListenerRefusesAmbiguousHeads(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "admin.token=0123456789abcdef")
	for _, c := range []struct{ path, fields, code string }{
		{"/admin/state", "Authorization: Bearer x\r\nAuthorization: Bearer 0123456789abcdef\r\n",
			string(apierr.InvalidValue)},
		{"/admin/%2e%2e/admin/state", "", string(apierr.InvalidRequest)},
	} {
		conn := w.dialAdmin()
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%s\r\n", c.path, c.fields)
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(answer), " 400 ") || !strings.Contains(string(answer), c.code) {
			t.Errorf("%s: %v %s", c.path, err, answer)
		}
	}
}
