package dispatch

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/fault"
	"octet/gateway/intake"
	"octet/gateway/metrics"
	"octet/gateway/place"
	"octet/gateway/receipt"
	"octet/gateway/stream"
	"octet/gateway/tenant"
	"octet/gateway/upstream"
	"octet/gateway/wire"
	"octet/routing/fleet"
	"octet/scheduler/gate"
	"octet/slo"
)

// tape is an engine's response that plays pieces from memory.
type tape struct {
	pieces [][]byte
	end    error // after the last piece
}

func (t *tape) Status() int             { return 200 }
func (t *tape) Header(string) string    { return "" }
func (t *tape) SetIdle(_ time.Duration) {}
func (t *tape) Close() error            { return nil }
func (t *tape) Carry(engine.Sink, func(error)) bool {
	return false
}
func (t *tape) Feed(sink engine.Sink) error {
	for {
		if more, err := sink.Pause(); !more || err != nil {
			return err
		}
		if len(t.pieces) == 0 {
			return t.end
		}
		p := t.pieces[0]
		t.pieces = t.pieces[1:]
		if more, err := sink.Take(p); !more || err != nil {
			return err
		}
	}
}

// sink is a client that reads everything.
type sink struct {
	header http.Header
	body   bytes.Buffer
	keep   bool
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Flush()              {}
func (s *sink) Write(b []byte) (int, error) {
	if s.keep {
		s.body.Write(b)
	}
	return len(b), nil
}

// connOf is the connection of a request that is answered on w.
func connOf(w http.ResponseWriter) conn.Conn {
	return conn.Of(w, httptest.NewRequest("POST", "/v1/chat/completions", nil))
}

// event is a chunk as vLLM sends it.
//
//nolint:lll // raw text that cannot be broken
func event(i int) []byte {
	return fmt.Appendf(
		nil,
		`data: {"id":"chatcmpl-7d3f","object":"chat.completion.chunk","created":1795218989,"model":"debug","choices":[{"index":0,"delta":{"content":"token %d"},"logprobs":null,"finish_reason":null}]}`+"\n\n", i)
}

func events(n int) (pieces [][]byte) {
	for i := range n {
		pieces = append(pieces, event(i))
	}
	return append(pieces, []byte("data: [DONE]\n\n"))
}

// staged is a Dispatch that has come as far as its engine's answer, and its client.
type staged struct {
	*Dispatch
	w     conn.Conn
	ended chan bool // whether the stream came to its proper end; cap 1
}

// Head implements Client.
func (x *staged) Head(*ensemble.Replica, time.Time, int) { x.w.Start(http.StatusOK, -1, nil) }

// End implements Client.
func (x *staged) End(err error) {
	if err != nil {
		x.Relay.Fail(append(append([]byte("data: "), fault.Of(err).AppendJSON(nil, x.Request.ID)...), "\n\n"...))
	}
	x.Close()
	x.Request.End()
	x.Relay.Release()
	x.ended <- err == nil
}

// here is the origin of a request whose client stays.
type here struct{ *intake.Timer }

func (here) Left() bool { return false }

// stage returns a Dispatch whose answer goes to w.
func stage(tb testing.TB, w http.ResponseWriter) *staged {
	tb.Helper()
	admission, err := gate.New(gate.Config{Blocks: 1 << 16, BlockSize: 16, MaxRunning: 8, MaxWaiting: 8,
		Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	member, err := fleet.New().Put(fleet.Spec{Name: "debug-0", Specialist: "debug", URL: "http://10.1.2.3:30000",
		Role: fleet.RoleBoth, BlockSize: 16})
	if err != nil {
		tb.Fatal(err)
	}
	sp := &ensemble.Specialist{Name: "debug", BlockSize: 16, Board: slo.NewBoard(slo.Config{})}
	rt := &ensemble.Runtime{Specialists: []*ensemble.Specialist{sp},
		Limits: ensemble.Limits{WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxStreams: 10}}
	knobs, err := slo.NewKnobs(nil)
	if err != nil {
		tb.Fatal(err)
	}
	series := metrics.New("", "", "")
	rt.Seal().Connect(knobs, series)
	x := &staged{Dispatch: new(Dispatch), w: conn.Of(w, httptest.NewRequest("POST", wire.Chat.Path(), nil)),
		ended: make(chan bool, 1)}
	timer := intake.StartTimer(time.Now(), time.Since)
	r, draft := new(intake.Request), new(receipt.Draft)
	r.Begin(x.w, httptest.NewRequest("POST", wire.Chat.Path(), nil), time.Now(), &rt.Limits,
		new(intake.Memory))
	r.Tenant, r.Kind, r.Stream = &tenant.Tenant{Name: "t"}, wire.Chat, true
	draft.Begin("r")
	x.Begin(Parts{Shared: &Shared{Retries: NewBudget(func() int64 { return 1 }), Metrics: series, WallClock: true},
		Runtime: rt, Request: r, Timer: &timer, Relay: new(stream.Relay), Receipt: draft, Client: x})
	x.ctx, x.Plan.Specialist = tb.Context(), sp
	x.answers()
	x.turn.rep = &ensemble.Replica{Name: "debug-0", Opaque: "abc", Gate: admission, Fleet: member}
	x.turn.rep.Seal()
	x.holds(tb)
	return x
}

// answers begins an answer.
func (x *staged) answers() {
	*x.Relay = stream.Relay{}
	x.Relay.Init(x.w, here{x.Timer}, x.Observer())
	x.Relay.Terms = upstream.Terms(x.Request, &x.Runtime.Limits)
}

// holds admits the request to its replica.
func (x *staged) holds(tb testing.TB) {
	tb.Helper()
	x.turn.place = place.New(x.turn.rep.Fleet, x.turn.rep.Gate, x.Plan.Specialist.BlockSize)
	r := gate.Request{PromptTokens: 10, MaxNew: 1 << 19, Now: x.Timer.Now()}
	if _, err := x.turn.place.Admit(x.ctx, &r, fleet.Demand{}, x.Timer); err != nil {
		tb.Fatal(err)
	}
}

// play runs a whole stream through the relay.
func (x *staged) play(t *tape) error {
	x.turn.resp = t
	err := x.Relay.Open(attempt{x.Dispatch}.source())
	if err == nil {
		_, err = x.Relay.Rest()
	}
	if err != nil {
		x.Relay.Fail([]byte{}) // what the client is owed goes out before the error
	}
	return attempt{x.Dispatch}.report().Meaning(err)
}

func TestTheRelayPassesEveryByteThatTheEngineSaid(t *testing.T) {
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	pieces := events(50)
	var want []byte
	for _, p := range pieces {
		want = append(want, p...)
	}
	var split [][]byte // events cut anywhere
	for rest := want; len(rest) > 0; {
		n := min(37, len(rest))
		split, rest = append(split, rest[:n]), rest[n:]
	}
	if err := x.play(&tape{pieces: split, end: io.EOF}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(w.body.Bytes(), want) || x.Relay.Delivered() != 50 {
		t.Errorf("%d tokens; got\n%s\nwant\n%s", x.Relay.Delivered(), w.body.Bytes(), want)
	}
}

func TestAStreamWithoutDoneIsAReset(t *testing.T) {
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	err := x.play(&tape{pieces: events(3)[:3], end: io.EOF})
	if fault.Of(err).Code != apierr.UpstreamReset {
		t.Errorf("ended in %v", err)
	}
	x = stage(t, w)
	err = x.play(&tape{pieces: [][]byte{event(0), []byte("data: {\"half\":")}, end: engine.ErrReset})
	if fault.Of(err).Code != apierr.UpstreamReset || bytes.Contains(w.body.Bytes(), []byte("half")) {
		t.Errorf("ended in %v after\n%s", err, w.body.Bytes())
	}
}

func TestTheRelayAllocatesNothingPerToken(t *testing.T) {
	count := func(tokens int) float64 {
		pieces := events(tokens)
		return testing.AllocsPerRun(10, func() {
			x := stage(t, &sink{header: http.Header{}})
			if err := x.play(&tape{pieces: pieces, end: io.EOF}); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := count(16), count(4016)
	if perToken := (many - few) / 4000; perToken > 0.05 { // the ledger's block table grows now and then
		t.Errorf("%.3f allocations a token", perToken)
	}
}

// BenchmarkRelay is the cost of one event from the engine's buffer to the client's writer, sockets left out.
func BenchmarkRelay(b *testing.B) {
	pieces := events(1000)
	b.ReportAllocs()
	x := stage(b, &sink{header: http.Header{}})
	for b.Loop() {
		x.answers()
		if err := x.play(&tape{pieces: pieces, end: io.EOF}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/event")
}
