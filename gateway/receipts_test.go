package gateway

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/classifier"
	"octet/gateway/wire"
)

func keep(rs *receipts, tenant string, r *Receipt) { rs.ring(tenant).put(r) }

// A receipt that somebody has asked for stays what it was, however many come after it; it is found while it is kept and
// not after.
func TestAReceiptThatWasFoundIsNotWrittenOver(t *testing.T) {
	const most = 8
	rs := newReceipts(most)
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			tenant := fmt.Sprint("t", writer)
			held := map[string]*Receipt{}
			var ids []string
			for i := range 2000 {
				id := fmt.Sprint("r-", writer, "-", i)
				draft := &Receipt{ID: id, RequestID: id}
				draft.Attempts = append(draft.Attempts, Attempt{Replica: id, Specialist: id})
				keep(rs, tenant, draft)
				ids = append(ids, id)
				if i%7 == 0 {
					held[id] = rs.find(tenant, id)
				}
				if i >= most && rs.find(tenant, ids[i-most]) != nil {
					t.Errorf("%s is found after %d others", ids[i-most], most)
				}
				if rs.find("another", id) != nil {
					t.Error("another tenant's receipt is found")
				}
			}
			for id, r := range held {
				if r == nil || r.ID != id {
					t.Errorf("%s was not found, or is another by now", id)
					continue
				}
				text, err := json.Marshal(r)
				if err != nil || strings.Count(string(text), id+`"`) != 4 {
					t.Errorf("%s became %s", id, text)
				}
			}
		})
	}
	all.Wait()
}

// What is read back says what was written, of receipts of all sizes on pages of all sizes, the newest of which are all
// found.
func TestAReceiptIsReadAsItWasWritten(t *testing.T) {
	for _, most := range []int{1, 2, 3, 300} {
		checkReading(t, most)
	}
}

func checkReading(t *testing.T, most int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	rs, want := newReceipts(most), []string{}
	for i := range 400 + 3*most {
		r := randomReceipt(rng, fmt.Sprint("r-", i))
		r.refs = append(r.refs, legRefs{specialist: fmt.Sprint("s", i/100)})
		r.legs = legOfNothing(rng)
		keep(rs, "t", r)
		r.tell()
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(text))
		at := max(0, i-rng.IntN(most))
		found := rs.find("t", fmt.Sprint("r-", at))
		if found == nil {
			t.Fatalf("after %d, %d is not found", i, at)
		}
		if got, _ := json.Marshal(found); string(got) != want[at] {
			t.Fatalf("written\n%s\nand read\n%s", want[at], got)
		}
	}
	if g := rs.ring("t"); len(g.pages) > 200 || most > 3 && g.first == 0 || len(g.said) > most {
		t.Errorf("%d pages from %d on, verdicts on %d", len(g.pages), g.first, len(g.said))
	}
}

// A verdict on a receipt is seen by whoever has asked for it before, counts once, and goes with the receipt.
func TestVerdictsStayWithTheirReceipt(t *testing.T) {
	rs := newReceipts(2)
	keep(rs, "t", &Receipt{ID: "a"})
	first, second := rs.find("t", "a"), rs.find("t", "a")
	once, _ := first.verdicts.add(Outcome{Kind: "k", Pass: true})
	if twice, _ := second.verdicts.add(Outcome{Kind: "k"}); once == refused || twice != refused {
		t.Error("a kind of verdict counts once")
	}
	if r := rs.find("t", "a"); len(r.Outcomes) != 1 || !r.Outcomes[0].Pass || len(first.Outcomes) != 0 {
		t.Errorf("%+v and %+v", r.Outcomes, first.Outcomes)
	}
	keep(rs, "t", &Receipt{ID: "b"})
	keep(rs, "t", &Receipt{ID: "c"})
	if r := rs.find("t", "c"); len(r.Outcomes) != 0 {
		t.Errorf("c took over %+v", r.Outcomes)
	}
}

func legOfNothing(rng *rand.Rand) []byte {
	p := pen{make([]byte, 4)}
	p.words("leg", "skipped", strings.Repeat("e", rng.IntN(300)))
	p.pair(rng.IntN(1e6), noPick)
	p.count(0)
	return p.b
}

func randomReceipt(rng *rand.Rand, id string) *Receipt {
	text := func() string { return strings.Repeat("x", max(0, rng.IntN(40)-20)*(1+rng.IntN(2)*rng.IntN(20))) }
	r := new(Receipt)
	for _, s := range append(r.rare(), &r.RequestID, &r.Asked.Model, &r.Decision.Specialist, &r.Decision.Rule,
		&r.Decision.intent, &r.Result.Finish) {
		*s = text()
	}
	r.ID, r.RequestID = id, r.RequestID+"q"
	if rng.IntN(3) == 0 {
		r.RequestID = r.ID
		for _, s := range r.rare() {
			*s = ""
		}
		r.Result.Specialist = r.Decision.Specialist
	}
	for _, n := range []*int{&r.Result.PromptTokens, &r.Result.CompletionTokens, &r.cached, &r.Asked.MaxTokens,
		&r.Prompt.Tokens} {
		*n = rng.IntN(1<<(1+rng.IntN(40))) - rng.IntN(200)
	}
	for _, n := range []*int{&r.Prompt.Blocks, &r.Result.Status, &r.Result.Continued, &r.Result.Preempted} {
		*n = rng.IntN(1 << 20)
	}
	r.Asked.Priority, r.Asked.PriorityInUse = rng.IntN(201)-100, rng.IntN(201)-100
	for _, n := range []*float64{&r.Decision.confidence, &r.Result.TTFTMs, &r.Result.TotalMs, &r.Result.RouteUs} {
		*n = rng.NormFloat64()
	}
	for _, b := range []*bool{&r.Asked.Session, &r.Asked.Stream, &r.Prompt.Exact, &r.Decision.SecondViable,
		&r.Result.Done} {
		*b = rng.IntN(2) == 0
	}
	r.kind, r.Asked.policy, r.Decision.routedBy = wire.Kind(rng.IntN(2)), wire.Policy(rng.IntN(3)),
		classifier.RoutedBy(rng.IntN(7))
	r.Time = time.Unix(rng.Int64N(1e9), rng.Int64N(1e9))
	r.Asked.DeadlineMs, r.Asked.TTFTDeadlineMs = rng.Int64N(1e6), rng.Int64N(1e6)
	if rng.IntN(2) == 0 {
		r.Result.CachedTokens = &r.cached
		r.Decision.Cues = []string{text(), text()}
		r.Decision.probabilities, r.Decision.among = []float64{.25, .75}, []*Specialist{{Name: "a"}, {Name: "b"}}
		r.Result.Specialist = r.Decision.Specialist
	}
	if rng.IntN(50) == 0 {
		r.Decision.Rule = strings.Repeat("r", mostPage)
	}
	r.Attempts = []Attempt{}
	for range rng.IntN(3) {
		a := Attempt{Specialist: text(), Step: text(), Replica: text(), Outcome: "ok", QueueMs: rng.Float64(),
			Ms: rng.Float64(), PredictedTokens: rng.IntN(1000), Fallback: text()}
		if rng.IntN(2) == 0 {
			a.Specialist, a.Outcome, a.Detail = r.Decision.Specialist, text(), text()
		}
		r.Attempts = append(r.Attempts, a)
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; rng.IntN(2) == 0 {
			a.delivered, a.DeliveredTokens = 7, &a.delivered
		}
	}
	return r
}
