package adminclient_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"octet/cmd/adminclient"
	"octet/internal/apptest"
	"octet/slo"
)

const token = "a token of a test"

// Each way in which an admin listener can fail is of its kind, and one line that a terminal can show.
func TestAClientTellsWhyItCameToNothing(t *testing.T) {
	const down = "no admin listener answers"
	unauthorized, unknown := says(401, `{"error":{"message":"x","code":"invalid_api_key"}}`),
		says(404, `{"error":{"message":"there is no x","code":"model_not_found"}}`)
	nothing := says(404, `{"error":{"message":"there is nothing at /admin/state","code":"route_not_found"}}`)
	const refusal = `{"error":{"message":"bad\u001b[2J\nvalue","type":"invalid_request_error","code":"invalid_value"}}`
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		token   string
		want    error
		message string
	}{
		"a wrong token":   {unauthorized, "t", adminclient.ErrToken, "does not know the token"},
		"no token":        {unauthorized, "", adminclient.ErrToken, "set OCTET_ADMIN_TOKEN"},
		"an unknown name": {unknown, "", adminclient.ErrUnknown, "there is no x"},
		"a refusal":       {says(400, refusal), "", adminclient.ErrRefused, "bad?[2J?value"},
		"another server":  {says(404, "<html>"), "", adminclient.ErrAnswer, "status 404"},
		"a data listener": {nothing, "", adminclient.ErrAnswer, "not as a gateway's admin listener"},
		"no JSON":         {says(200, "<html>"), "", adminclient.ErrAnswer, "not as a gateway"},
		"a redirect": {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, "", adminclient.ErrAnswer,
			"status 302"},
		"a broken answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "",
			adminclient.ErrDown, down},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, "", adminclient.ErrDown, down},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			client, err := adminclient.New(strings.TrimPrefix(server.URL, "http://"), c.token, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, err = client.State(t.Context())
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.message) ||
				strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%v", err)
			}
		})
	}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// A token goes to the address that was given, and to no other.
func TestATokenStaysWhereItWasSent(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked with %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	heard := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = r.Header.Get("Authorization")
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	client, err := adminclient.New(server.URL, "secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Drain(t.Context(), "debug-0", true); !errors.Is(err, adminclient.ErrAnswer) {
		t.Error(err)
	}
	if heard != "Bearer secret" {
		t.Errorf("heard %q", heard)
	}
}

// The end of a context is told as it is: it is no fault of the listener's.
func TestAClientEndsWithItsContext(t *testing.T) {
	asked := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	}))
	defer server.Close()
	client, err := adminclient.New(server.URL, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	if _, err := client.State(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, adminclient.ErrDown) {
		t.Error(err)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:8081": "http://127.0.0.1:8081", "https://gw.example/": "https://gw.example",
		"[::1]:80": "http://[::1]:80", "gw/octet": "http://gw/octet",
		"": "", "http://": "", "ftp://gw": "", "http://user:secret@gw": "", "gw?x=1": "", "gw#x": "", "gw:port": "",
		"a b": "",
	} {
		client, err := adminclient.New(address, "", nil)
		switch {
		case want == "" && !errors.Is(err, adminclient.ErrAddress):
			t.Errorf("%q: %v", address, err)
		case want != "" && (err != nil || client.URL() != want):
			t.Errorf("%q: %v", address, err)
		}
	}
}

// The client against a real gateway: names that hold what a URL has another meaning for are names still.
func TestAClientSpeaksToAGateway(t *testing.T) {
	w := apptest.New(t, apptest.Small, apptest.SmallEngines(), "admin.token="+token)
	client, err := adminclient.New(w.Admin, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	state, err := client.State(t.Context())
	if err != nil || len(state.Specialists) != 2 || state.Generation == 0 {
		t.Fatalf("%+v, %v", state, err)
	}
	for _, name := range []string{"none", "..", "a?b", "a#b", "", strings.Repeat("x", 256), "ä\x1b"} {
		if _, err := client.Drain(t.Context(), name, true); !errors.Is(err, adminclient.ErrUnknown) {
			t.Errorf("draining %q: %v", name, err)
		}
		if _, err := client.Receipt(t.Context(), name); !errors.Is(err, adminclient.ErrUnknown) {
			t.Errorf("the receipt %q: %v", name, err)
		}
	}
	_, answer := w.Post("/v1/completions", `{"model":"debug","prompt":"p","max_tokens":2}`)
	resp, _ := w.Post("/v1/completions", `{"model":"debug","prompt":"p","max_tokens":2}`)
	r, err := client.Receipt(t.Context(), resp.Header.Get("X-Receipt-Id"))
	if err != nil || r.Result.Status != 200 || len(r.Attempts) != 1 {
		t.Errorf("%s: %+v, %v", answer, r, err)
	}
	const knob = slo.ShadowThreshold + "codegen"
	all, err := client.SetKnob(t.Context(), knob, adminclient.Override{Value: 0.5, By: "me", Why: "a test"})
	if err != nil || len(all) == 0 {
		t.Errorf("%v, %v", all, err)
	}
	_, err = client.SetKnob(t.Context(), knob, adminclient.Override{Value: 7})
	if !errors.Is(err, adminclient.ErrRefused) {
		t.Errorf("out of range: %v", err)
	}
	if _, err := client.UnsetKnob(t.Context(), "none"); !errors.Is(err, adminclient.ErrUnknown) {
		t.Errorf("no such knob: %v", err)
	}
	text, err := client.Text(t.Context(), "metrics")
	if err != nil || !strings.Contains(string(text), "octet_kv_blocks") {
		t.Errorf("metrics: %v", err)
	}
}
