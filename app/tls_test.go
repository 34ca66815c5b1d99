package app_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/internal/tlstest"
)

// secured is a world whose data listener speaks TLS.
type secured struct {
	*world
	ca     tlstest.Authority
	leaf   tlstest.Leaf
	client map[string]*http.Client // by the protocol that it speaks
}

func newSecured(t *testing.T, sets ...string) *secured {
	t.Helper()
	return securedBefore(t, smallEngines(), sets...)
}

// securedBefore is newSecured before given engines.
func securedBefore(t *testing.T, engines []emulator.Config, sets ...string) *secured {
	t.Helper()
	ca := tlstest.New(t)
	leaf := ca.Issue(t, time.Now().Add(time.Hour), "127.0.0.1")
	sets = append(sets, "listen.tls.cert="+leaf.CertFile, "listen.tls.key="+leaf.KeyFile)
	s := &secured{world: newWorld(t, smallWorld, engines, sets...), ca: ca, leaf: leaf,
		client: map[string]*http.Client{}}
	s.Data = strings.Replace(s.Data, "http:", "https:", 1)
	for proto, h2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Roots}, ForceAttemptHTTP2: h2}
		t.Cleanup(transport.CloseIdleConnections)
		s.client[proto] = &http.Client{Transport: transport}
	}
	return s
}

// post sends a body as a client of a protocol.
func (s *secured) post(proto, path, body string, headers ...string) *http.Response {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), "POST", s.Data+path, strings.NewReader(body))
	if err != nil {
		s.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := s.client[proto].Do(req)
	if err != nil {
		s.T.Fatal(err)
	}
	if resp.Proto != proto {
		s.T.Errorf("%s was asked for, %s is spoken", proto, resp.Proto)
	}
	return resp
}

// metric sums a metric of the page over the lines with these labels.
func (s *secured) metric(name string, labels ...string) (sum float64) {
lines:
	for line := range strings.Lines(s.Metrics()) {
		if at, has := strings.CutPrefix(line, name); !has || !strings.ContainsAny(at[:1], "{ ") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(line, label) {
				continue lines
			}
		}
		var n float64
		_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n)
		sum += n
	}
	return sum
}

// each runs f as a client of each protocol.
func (s *secured) each(f func(proto string)) {
	for proto := range s.client {
		f(proto)
	}
}

func wholeOf(t *testing.T, resp *http.Response) (string, error) {
	t.Helper()
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

const (
	chatOne     = `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"x"}]%s}`
	messageOne  = `{"model":"debug","max_tokens":4,"messages":[{"role":"user","content":"x"}]%s}`
	responseOne = `{"model":"debug","max_output_tokens":4,"input":"x"%s}`
)

func TestEveryDoorAnswersByTLS(t *testing.T) {
	s := newSecured(t)
	s.each(func(proto string) {
		for _, c := range []struct{ path, body, end string }{
			{"/v1/chat/completions", chatOne, "data: [DONE]\n\n"},
			{"/v1/messages", messageOne, "event: message_stop"},
			{"/v1/responses", responseOne, "event: response.incomplete"},
		} {
			resp := s.post(proto, c.path, fmt.Sprintf(c.body, ""))
			if text, err := wholeOf(t, resp); resp.StatusCode != 200 || err != nil || !strings.Contains(text, "⟧") {
				t.Errorf("%s %s: %d %v %s", proto, c.path, resp.StatusCode, err, text)
			}
			resp = s.post(proto, c.path, fmt.Sprintf(c.body, `,"stream":true`))
			if text, err := wholeOf(t, resp); resp.StatusCode != 200 || err != nil || !strings.Contains(text, c.end) {
				t.Errorf("%s %s, streamed: %d %v %s", proto, c.path, resp.StatusCode, err, text)
			}
			resp = s.post(proto, c.path, `{`)
			if text, err := wholeOf(t, resp); resp.StatusCode != 400 || err != nil ||
				!strings.Contains(text, string(apierr.InvalidJSON)) {
				t.Errorf("%s %s, half a body: %d %v %s", proto, c.path, resp.StatusCode, err, text)
			}
		}
	})
	if m := s.Metrics(); !strings.Contains(m, `octet_tls_handshakes_total{listener="data",result="done"}`) ||
		!strings.Contains(m, `octet_certificate_expiry_timestamp_seconds{replica="",use="listen.tls"}`) ||
		!strings.Contains(m, `octet_connections{listener="data"}`) {
		t.Error("metrics of connections, handshakes or certificates are missing")
	}
}

// A stream that cannot go on ends with a typed error, and without HTTP's own good end.
func TestAStreamThatBreaksByTLSHasNoGoodEnd(t *testing.T) {
	s := newSecured(t, "limits.continuations=0")
	s.each(func(proto string) {
		for _, name := range []string{"debug-0", "debug-1"} {
			s.Fault(name, `{"kind":"die_after_tokens","k":2,"times":1}`)
		}
		resp := s.post(proto, "/v1/chat/completions",
			`{"model":"debug","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
		st := readStream(resp.Body)
		resp.Body.Close()
		if st.failed == nil || st.done || st.clean {
			t.Errorf("%s: %+v", proto, st)
		}
		eventually(t, "replicas are back", func() bool {
			return s.Replica("debug-0").Fleet.Available() && s.Replica("debug-1").Fleet.Available()
		})
	})
}

// A client that leaves in the middle of a stream has its request end at the engine.
func TestAClientThatLeavesByTLSEndsItsRequest(t *testing.T) {
	s := newSecured(t)
	s.each(func(proto string) {
		s.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":1}`)
		resp := s.post(proto, "/v1/chat/completions",
			`{"model":"systems","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
		if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		eventually(t, proto+": nothing is open", func() bool { return s.metric("octet_open_requests") == 0 })
	})
}

func TestADeadlineIsKeptByTLS(t *testing.T) {
	s := newSecured(t)
	s.each(func(proto string) {
		s.Fault("systems-0", `{"kind":"hang_after_tokens","k":1,"times":1}`)
		resp := s.post(proto, "/v1/chat/completions",
			`{"model":"systems","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"x"}]}`,
			"X-Deadline-Ms", "1500")
		st := readStream(resp.Body)
		resp.Body.Close()
		if st.failed == nil || st.failed.Error.Code != string(apierr.DeadlineExceeded) || st.clean {
			t.Errorf("%s: %+v", proto, st)
		}
	})
}

// The deadline for writes binds writes, not the silence between them.
func TestASilentStreamOutlivesTheTimeForWrites(t *testing.T) {
	engines := smallEngines()
	engines[2].Step = 30 * time.Millisecond // ten of them between two tokens of a slow answer
	s := securedBefore(t, engines, "limits.write_timeout=150ms")
	s.each(func(proto string) {
		s.Fault("systems-0", `{"kind":"slow","k":30,"times":1}`)
		resp := s.post(proto, "/v1/chat/completions",
			`{"model":"systems","max_tokens":4,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
		st := readStream(resp.Body)
		resp.Body.Close()
		if !st.done || !st.clean || st.text == "" {
			t.Errorf("%s: %+v", proto, st)
		}
	})
}

func TestTenantsAreKnownByTLS(t *testing.T) {
	s := newSecured(t, twoTenants("auth.anonymous=false")...)
	s.each(func(proto string) {
		for key, want := range map[string]int{"acme": 200, "nobody": 401, "": 401} {
			var headers []string
			if key != "" {
				headers = as(key)
			}
			resp := s.post(proto, "/v1/chat/completions", fmt.Sprintf(chatOne, ""), headers...)
			if text, _ := wholeOf(t, resp); resp.StatusCode != want {
				t.Errorf("%s, key %q: %d %s", proto, key, resp.StatusCode, text)
			}
		}
	})
}

// A drain lets what is open finish, and refuses the rest with a typed error.
func TestADrainByTLSLosesNothing(t *testing.T) {
	s := newSecured(t)
	open := map[string]*http.Response{}
	s.each(func(proto string) {
		open[proto] = s.post(proto, "/v1/chat/completions",
			`{"model":"debug","max_tokens":400,"stream":true,"messages":[{"role":"user","content":"x"}]}`)
	})
	s.Stop()
	eventually(t, "it drains", func() bool {
		resp := s.post("HTTP/2.0", "/v1/chat/completions", fmt.Sprintf(chatOne, ""))
		text, _ := wholeOf(t, resp)
		return resp.StatusCode == 503 && strings.Contains(text, string(apierr.Draining))
	})
	for proto, resp := range open {
		if st := readStream(resp.Body); !st.done || !st.clean {
			t.Errorf("%s: %+v", proto, st)
		}
		resp.Body.Close()
	}
	if err := <-s.Ended; err != nil {
		t.Error(err)
	}
	s.Ended <- nil // the world's own cleanup waits for it
}

// What does not fit is told, and takes nothing from others.
func TestWhatSpeaksNoFittingTLSIsRefused(t *testing.T) {
	s := newSecured(t, "limits.header_timeout=300ms")
	address := strings.TrimPrefix(s.Data, "https://")
	dial := func(c *tls.Config) error {
		c.RootCAs, c.ServerName = s.ca.Roots, "127.0.0.1"
		nc, err := tls.Dial("tcp", address, c)
		if err == nil {
			nc.Close()
		}
		return err
	}
	if err := dial(&tls.Config{NextProtos: []string{"smtp"}}); err == nil ||
		!strings.Contains(err.Error(), "no application protocol") {
		t.Errorf("another protocol: %v", err)
	}
	if err := dial(&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	if err := dial(&tls.Config{MaxVersion: tls.VersionTLS12}); err != nil {
		t.Errorf("TLS 1.2: %v", err)
	}
	resp, err := http.Get("http://" + address + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := wholeOf(t, resp); resp.StatusCode != 400 || !strings.Contains(text, "https://") ||
		!strings.Contains(text, string(apierr.InvalidRequest)) {
		t.Errorf("plain HTTP: %d %s", resp.StatusCode, text)
	}
	slow, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	_, _ = slow.Write([]byte{0x16, 3, 1})
	if _, err := slow.Read(make([]byte, 1)); err == nil {
		t.Error("half a handshake is answered")
	}
	for result, want := range map[string]float64{"failed": 2, "late": 1, "plain": 1} {
		eventually(t, result, func() bool {
			return s.metric("octet_tls_handshakes_total", `listener="data"`, `result="`+result+`"`) >= want
		})
	}
}
