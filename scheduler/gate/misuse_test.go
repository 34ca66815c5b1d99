package gate

import (
	"testing"
	"time"
)

func TestMisuseOfAGatePanicsWithNumbers(t *testing.T) {
	g, err := New(Config{MaxRunning: 1, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	wantPanic(t, "reconfiguring to 0 running", func() { g.Reconfigure(Config{MaxWaiting: 1}) })
	wantPanic(t, "x of -1 prompt, 2 new, 3 resumed and 0 drafted tokens",
		func() { g.Probe(Request{ID: "x", PromptTokens: -1, MaxNew: 2, Resume: 3}) })
	if _, err := g.Admit(t.Context(), Request{}); err != nil { // the lock is not held
		t.Error(err)
	}
}
