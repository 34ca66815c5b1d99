package app_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	modes "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"

	"octet/gateway/picker"
)

// envoy plays the proxy: it asks a picker for each request, and carries it as it is told.
type envoy struct {
	t      testing.TB
	client extproc.ExternalProcessorClient
}

// pickerAt serves the picker of a world on l. What ends it does so as a crash does; it ends with the test.
func pickerAt(t testing.TB, w *world, l net.Listener, failOpen bool, line picker.Line) (end func()) {
	t.Helper()
	limits := &w.App.Config().Limits
	cfg := picker.Config{Line: line, Via: w.App.Server().Via(),
		WriteTimeout: func() time.Duration { return limits.WriteTimeout },
		MostKept:     func() int64 { return int64(limits.QueueBytes) }}
	if line == nil {
		cfg.Line = w.App.Server().Carried()
	}
	if failOpen {
		cfg.Endpoint = w.App.Server().Endpoint
	}
	ctx, cancel := context.WithCancel(context.Background())
	done, open := make(chan struct{}), &connections{Listener: l}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := picker.New(cfg).Serve(ctx, open, done); err != nil {
			t.Error(err)
		}
	})
	end = sync.OnceFunc(func() {
		open.crash()
		cancel()
		close(done)
		serving.Wait()
	})
	t.Cleanup(end)
	return end
}

// connections is a listener whose connections can be broken off.
type connections struct {
	net.Listener
	mu  sync.Mutex
	all []net.Conn // accepted so far; guarded by mu
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.all = append(c.all, conn)
	}
	return conn, err
}

func (c *connections) crash() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.all {
		_ = conn.Close()
	}
}

// listens returns a listener on a free port of this machine, or on that of an address.
func listens(t testing.TB, at string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// newEnvoy returns a proxy before the picker of a world.
func newEnvoy(t testing.TB, w *world, failOpen bool, line picker.Line) *envoy {
	t.Helper()
	l := listens(t, "127.0.0.1:0")
	pickerAt(t, w, l, failOpen, line)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(64<<10), grpc.WithInitialConnWindowSize(64<<10)) // which do not grow then
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &envoy{t, extproc.NewExternalProcessorClient(conn)}
}

// carried is what came of a request.
type carried struct {
	immediate bool
	status    int
	header    http.Header
	body      string
	to        string      // the endpoint
	came      http.Header // the client's fields, as the engine has them unless they are taken out
	asked     *http.Request
	err       error // of the call
}

// headers returns a head as the proxy sends it.
func headers(pairs ...string) *core.HeaderMap {
	m := new(core.HeaderMap)
	for i := 0; i < len(pairs); i += 2 {
		m.Headers = append(m.Headers, &core.HeaderValue{Key: pairs[i], RawValue: []byte(pairs[i+1])})
	}
	return m
}

// requestHead is the first message of a call.
func requestHead(method, path string, end bool, subset []string, pairs ...string) *extproc.ProcessingRequest {
	all := append([]string{":method", method, ":path", path, ":authority", "models.example", ":scheme", "http",
		"content-type", "application/json"}, pairs...)
	m := &extproc.ProcessingRequest{
		Request: &extproc.ProcessingRequest_RequestHeaders{
			RequestHeaders: &extproc.HttpHeaders{Headers: headers(all...), EndOfStream: end}},
		ProtocolConfig: &extproc.ProtocolConfiguration{
			RequestBodyMode:  modes.ProcessingMode_FULL_DUPLEX_STREAMED,
			ResponseBodyMode: modes.ProcessingMode_FULL_DUPLEX_STREAMED}}
	if subset != nil {
		hint := structpb.NewStringValue(strings.Join(subset, ","))
		m.MetadataContext = &core.Metadata{FilterMetadata: map[string]*structpb.Struct{"envoy.lb.subset_hint": {
			Fields: map[string]*structpb.Value{"x-gateway-destination-endpoint-subset": hint}}}}
	}
	return m
}

func requestPiece(piece string, end bool) *extproc.ProcessingRequest {
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_RequestBody{
		RequestBody: &extproc.HttpBody{Body: []byte(piece), EndOfStream: end}}}
}

func answerHead(end bool, pairs ...string) *extproc.ProcessingRequest {
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseHeaders{
		ResponseHeaders: &extproc.HttpHeaders{Headers: headers(pairs...), EndOfStream: end}}}
}

func answerPiece(piece []byte, end bool) *extproc.ProcessingRequest {
	return &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseBody{
		ResponseBody: &extproc.HttpBody{Body: piece, EndOfStream: end}}}
}

// post has a request carried to its end.
func (e *envoy) post(path, body string, pairs ...string) carried {
	e.t.Helper()
	return e.carry(e.t.Context(), requestHead("POST", path, false, nil, pairs...), body)
}

// carry has a request carried: its head, and its body in pieces.
func (e *envoy) carry(ctx context.Context, head *extproc.ProcessingRequest, body string) (c carried) {
	e.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	call, err := e.client.Process(ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	_ = call.Send(head) // what fails shows in Recv
	if !head.GetRequestHeaders().GetEndOfStream() {
		half := len(body) / 2
		_, _ = call.Send(requestPiece(body[:half], false)), call.Send(requestPiece(body[half:], true))
	}
	c.header, c.came = http.Header{}, http.Header{}
	for _, f := range head.GetRequestHeaders().GetHeaders().GetHeaders() {
		if name := f.GetKey(); name[0] != ':' {
			c.came.Add(name, string(f.GetRawValue()))
		}
	}
	c.asked, c.err = e.told(call, &c)
	if c.err != nil || c.immediate {
		return c
	}
	resp, err := http.DefaultClient.Do(c.asked.WithContext(ctx))
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	var bringing sync.WaitGroup
	defer bringing.Wait()
	bringing.Go(func() { bring(call, resp) })
	c.status = resp.StatusCode
	for name, values := range resp.Header {
		c.header[name] = values
	}
	c.err = replied(call, &c)
	cancel()
	return c
}

// told reads what becomes of a request: nil if it is answered at once.
func (e *envoy) told(call extproc.ExternalProcessor_ProcessClient, c *carried) (*http.Request, error) {
	m, err := call.Recv()
	if err != nil || immediately(m, c) {
		return nil, err
	}
	head := m.GetRequestHeaders().GetResponse()
	if head == nil {
		e.t.Fatalf("%v in place of the head", m)
	}
	fields := http.Header{}
	for name, values := range c.came {
		fields[name] = values
	}
	mutate(fields, head.GetHeaderMutation())
	c.to = fields.Get("X-Gateway-Destination-Endpoint")
	named := m.GetDynamicMetadata().GetFields()["envoy.lb"].GetStructValue().GetFields()
	if at := named["x-gateway-destination-endpoint"].GetStringValue(); at != c.to {
		e.t.Errorf("the metadata names %q, the head %q", at, c.to)
	}
	var body strings.Builder
	for end := false; !end; {
		m, err := call.Recv()
		if err != nil || immediately(m, c) {
			return nil, err
		}
		piece := m.GetRequestBody().GetResponse().GetBodyMutation().GetStreamedResponse()
		if piece == nil {
			e.t.Fatalf("%v in place of the body", m)
		}
		body.Write(piece.GetBody())
		end = piece.GetEndOfStream()
	}
	path := fields.Get(":path")
	if path == "" {
		path = "/v1/chat/completions"
	}
	r, err := http.NewRequest("POST", "http://"+c.to+path, strings.NewReader(body.String()))
	if err == nil {
		fields.Del(":path")
		r.Header = fields
	}
	return r, err
}

// mutate does to a head what the picker says.
func mutate(h http.Header, m *extproc.HeaderMutation) {
	for _, name := range m.GetRemoveHeaders() {
		h.Del(name)
	}
	for _, f := range m.GetSetHeaders() {
		name, value := f.GetHeader().GetKey(), string(f.GetHeader().GetRawValue())
		if strings.HasPrefix(name, ":") {
			h[name] = []string{value}
		} else if f.GetAppendAction() == core.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD {
			h.Add(name, value)
		} else {
			h.Set(name, value)
		}
	}
}

func immediately(m *extproc.ProcessingResponse, c *carried) bool {
	i := m.GetImmediateResponse()
	if i == nil {
		return false
	}
	c.immediate, c.status, c.body = true, int(i.GetStatus().GetCode()), string(i.GetBody())
	c.header = http.Header{}
	mutate(c.header, i.GetHeaders())
	return true
}

// bring sends an engine's answer to the picker, as it comes.
func bring(call extproc.ExternalProcessor_ProcessClient, resp *http.Response) {
	pairs := []string{":status", resp.Status[:3]}
	for name, values := range resp.Header {
		pairs = append(pairs, strings.ToLower(name), values[0])
	}
	err := call.Send(answerHead(false, pairs...))
	for room := make([]byte, 1000); err == nil; {
		var n int
		n, err = resp.Body.Read(room)
		if err == nil || errors.Is(err, io.EOF) {
			if failed := call.Send(answerPiece(append([]byte(nil), room[:n]...), err != nil)); failed != nil {
				return
			}
		}
	}
}

// replied reads an answer to its end.
func replied(call extproc.ExternalProcessor_ProcessClient, c *carried) error {
	for {
		m, err := call.Recv()
		if err != nil || immediately(m, c) {
			return err
		}
		if h := m.GetResponseHeaders(); h != nil {
			mutate(c.header, h.GetResponse().GetHeaderMutation())
			continue
		}
		piece := m.GetResponseBody().GetResponse().GetBodyMutation().GetStreamedResponse()
		c.body += string(piece.GetBody())
		if piece.GetEndOfStream() {
			return nil
		}
	}
}
