package app_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
)

// Breakers see engines that have died, as the proxy tells it, and neither clients that leave nor what the proxy
// refuses by itself.
func TestBreakersSeeDeathsAndNoClientThatLeaves(t *testing.T) {
	const before = "upstream_reset_before_response_started"
	for name, c := range map[string]struct {
		details string // "" tells nothing
		leaves  bool   // the client does, and the proxy says nothing
		code    string
		opens   bool
	}{
		"reset":          {details: before + "{connection_termination}", code: "upstream_reset", opens: true},
		"not reached":    {details: before + "{remote_connection_failure|111}", code: `"code"`, opens: true},
		"its own answer": {details: "via_upstream", code: "overloaded"},
		"not told":       {code: "overloaded"},
		"no room there":  {details: before + "{overflow}", code: `"code"`},
		"clients leave":  {leaves: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1h", "fleet.probe_interval=1h")
			e := newEnvoy(t, w, false, nil)
			at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
			out := func() bool {
				rep := w.Replica("debug-0").Fleet
				return rep.State() == "open" || !rep.Available()
			}
			for range 3 { // as many as open a breaker
				ctx, leave := context.WithCancel(t.Context())
				call, err := e.client.Process(ctx)
				if err != nil {
					t.Fatal(err)
				}
				_ = call.Send(requestHead("POST", "/v1/chat/completions", false, []string{at})) // shows in Recv
				_ = call.Send(requestPiece(pickedChat, true))
				var got carried
				if _, err := e.told(call, &got); err != nil || got.immediate {
					leave()
					if err == nil && c.opens && out() { // one that cannot be reached is out sooner
						break
					}
					t.Fatalf("%v, %+v", err, got)
				}
				if c.leaves {
					leave()
					quiet(t, w)
					continue
				}
				head := answerHead(false, ":status", "503")
				head.Attributes = detailsOf(c.details)
				_, _ = call.Send(head), call.Send(answerPiece([]byte("upstream connect error"), true))
				if err := replied(call, &got); err != nil || !got.immediate || !strings.Contains(got.body, c.code) {
					t.Errorf("%v, %+v", err, got)
				}
				leave()
				quiet(t, w)
			}
			if out() != c.opens {
				t.Errorf("the breaker is %s", w.Replica("debug-0").Fleet.State())
			}
		})
	}
}

// A proxy that speaks out of turn blames no replica, however often it does.
func TestAProxyOutOfTurnBlamesNoReplica(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "fleet.breaker.open_for=1h", "fleet.probe_interval=1h")
	e := newEnvoy(t, w, false, nil)
	at := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	for range 8 {
		call, err := e.client.Process(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = call.Send(requestHead("POST", "/v1/chat/completions", false, []string{at}))
		_ = call.Send(requestPiece(pickedChat, true))
		var got carried
		if _, err := e.told(call, &got); err != nil || got.immediate {
			t.Fatalf("%v, %+v", err, got)
		}
		_ = call.Send(answerPiece([]byte("no head"), true))
		for err == nil {
			_, err = call.Recv()
		}
		quiet(t, w)
	}
	if rep := w.Replica("debug-0").Fleet; rep.State() != "closed" || !rep.Available() {
		t.Errorf("the breaker is %s", rep.State())
	}
}

// detailsOf is the attribute by which the proxy says where an answer comes from.
func detailsOf(details string) map[string]*structpb.Struct {
	if details == "" {
		return nil
	}
	return map[string]*structpb.Struct{"envoy.filters.http.ext_proc": {
		Fields: map[string]*structpb.Value{"response.code_details": structpb.NewStringValue(details)}}}
}
