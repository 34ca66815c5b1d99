package picker

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"octet/engine"
)

// proxy is a call's other side: it sends nothing, and keeps what it is sent.
type proxy struct {
	grpc.ServerStream
	sent []*extproc.ProcessingResponse
}

func (*proxy) Context() context.Context                   { return context.Background() }
func (*proxy) Recv() (*extproc.ProcessingRequest, error)  { return nil, io.EOF }
func (p *proxy) Send(m *extproc.ProcessingResponse) error { p.sent = append(p.sent, m); return nil }

// What an engine is sent ends once: with its last piece, with an empty one where there is no body, or with trailers.
func TestABodyEndsOnce(t *testing.T) {
	long := strings.Repeat("x", mostPiece)
	for name, c := range map[string]struct {
		body     []string
		trailers bool
		pieces   []string
	}{
		"empty":               {nil, false, []string{""}},
		"empty, and trailers": {nil, true, nil},
		"one":                 {[]string{"a"}, false, []string{"a"}},
		"two":                 {[]string{"a", "b"}, false, []string{"a", "b"}},
		"an empty segment":    {[]string{"a", ""}, false, []string{"a"}},
		"with trailers":       {[]string{"a"}, true, []string{"a"}},
		"a long one":          {[]string{long + "y"}, false, []string{long, "y"}},
	} {
		p := &proxy{}
		call := New(Config{}).newCall(p)
		call.trailers = c.trailers
		q := &engine.Request{Path: "/v1/x"}
		for _, s := range c.body {
			q.Segments = append(q.Segments, []byte(s))
		}
		if err := call.forward("10.0.0.1:80", "/at", q); err != nil {
			t.Fatal(err)
		}
		var pieces []string
		ends := 0
		for i, m := range p.sent[1:] {
			if m.GetRequestTrailers() != nil {
				ends++
				continue
			}
			piece := m.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse()
			pieces = append(pieces, string(piece.GetBody()))
			if piece.GetEndOfStream() {
				ends++
				if i+2 != len(p.sent) {
					t.Errorf("%s: something comes behind the end", name)
				}
			}
		}
		if strings.Join(pieces, "|") != strings.Join(c.pieces, "|") || len(pieces) != len(c.pieces) || ends != 1 {
			t.Errorf("%s: %d pieces, %d ends", name, len(pieces), ends)
		}
		size := 0
		for _, s := range c.body {
			size += len(s)
		}
		head := fieldsIn(p.sent[0].GetRequestHeaders().GetResponse().GetHeaderMutation().GetSetHeaders())
		if head[":path"] != "/at/v1/x" || len(head["content-length"]) == 0 || head[endpointKey] != "10.0.0.1:80" ||
			head["content-length"] == "0" != (size == 0) {
			t.Errorf("%s: %v", name, head)
		}
	}
}

func fieldsIn(all []*core.HeaderValueOption) map[string]string {
	fields := map[string]string{}
	for _, f := range all {
		fields[f.GetHeader().GetKey()] = string(f.GetHeader().GetRawValue())
	}
	return fields
}

// What the proxy has made up is no answer of the engine, and is what it says of the engine.
func TestAProxysOwnReplyIsWhatItSaysOfTheEngine(t *testing.T) {
	for details, want := range map[string]error{
		"": nil, "via_upstream": nil,
		"upstream_reset_before_response_started{connection_termination}":        engine.ErrReset,
		"upstream_reset_before_response_started{remote_reset}":                  engine.ErrReset,
		"upstream_reset_before_response_started{remote_connection_failure|111}": engine.ErrConnect,
		"upstream_reset_before_response_started{connection_timeout}":            engine.ErrConnect,
		"upstream_reset_before_response_started{protocol_error}":                engine.ErrProtocol,
		"upstream_reset_before_response_started{overflow}":                      engine.ErrLocal,
		"upstream_response_timeout":                                             engine.ErrTimeout,
		"no_healthy_upstream":                                                   engine.ErrConnect,
		"request_payload_too_large":                                             engine.ErrLocal,
	} {
		m := &extproc.ProcessingRequest{Attributes: map[string]*structpb.Struct{"envoy.filters.http.ext_proc": {
			Fields: map[string]*structpb.Value{detailsKey: structpb.NewStringValue(details)}}}}
		if err := localReply(m); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v", details, err)
		}
	}
	if err := localReply(&extproc.ProcessingRequest{}); err != nil {
		t.Error(err)
	}
}

// An answer that no engine has begun is one immediate response, whatever its status; after a head it is none.
func TestAnAnswerIsImmediateUntilAnEngineHasBegun(t *testing.T) {
	for name, c := range map[string]struct {
		answers   *response
		status    int
		immediate bool
	}{
		"no engine":       {nil, 200, true},
		"an error":        {&response{err: io.EOF}, 502, true},
		"an answer":       {&response{err: io.EOF}, 200, false},
		"without a write": {nil, 0, true},
	} {
		p := &proxy{}
		call := New(Config{}).newCall(p)
		if call.answers = c.answers; c.answers != nil {
			c.answers.call = call
		}
		w := &writer{call: call, header: http.Header{"X-A": {"1", "2"}, "Connection": {"close"}}}
		if c.status > 0 {
			w.WriteHeader(c.status)
			_, _ = w.Write([]byte("said"))
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
		last := p.sent[len(p.sent)-1]
		now := last.GetImmediateResponse()
		if (now != nil) != c.immediate || c.immediate && len(p.sent) != 1 {
			t.Errorf("%s: %v", name, p.sent)
		}
		if now != nil && (len(now.GetHeaders().GetSetHeaders()) != 2 || c.status > 0 &&
			string(now.GetBody()) != "said") {
			t.Errorf("%s: %v", name, now)
		}
		piece := last.GetResponseBody().GetResponse().GetBodyMutation().GetStreamedResponse()
		if now == nil && !piece.GetEndOfStream() {
			t.Errorf("%s: no end", name)
		}
	}
}
