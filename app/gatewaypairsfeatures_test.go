package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"octet/app/peering"
	"octet/gateway/receipt"
	"octet/slo"
)

// gatewayFeature is one side of a pair: what is done at one gateway, and looked for at the other. The hooks of both
// sides run in the order of the fields; what begin has begun is under way in midway, as a rule.
type gatewayFeature struct {
	name   string
	lead   string   // the specialist that it is about; "" for the other side's
	tenant string   // limits of its tenant
	may    []string // codes in which requests of either side may end because of it
	begin  func(s *side)
	midway func(s *side)
	end    func(s *side) // when all that was begun is over
}

// long answers take some 160 ms, brief ones 16.
const pairLong, pairBrief = 40, 4

var gatewayFeatures = []*gatewayFeature{
	{name: "rate", tenant: ", rate: {requests_per_second: 0.001, burst: 3}", may: []string{"quota_exceeded"},
		midway: (*side).spendRate},
	{name: "budget", tenant: ", budget: {tokens_per_day: 400}", may: []string{"quota_exceeded"},
		midway: (*side).spendBudget},
	{name: "priority", lead: "tight", midway: (*side).queueByPriority},
	{name: "key",
		begin:  func(s *side) { s.begin(s.here, pairLong, "Idempotency-Key", s.tenant) },
		midway: (*side).repeatKey, end: (*side).keyIsFree},
	{name: "knob", begin: (*side).setKnob, end: (*side).clearKnob},
	{name: "session", begin: (*side).sit, midway: (*side).sitElsewhere},
	{name: "deadline", lead: "tight", may: []string{"deadline_unachievable", "deadline_exceeded",
		"queue_full"},
		begin: func(s *side) { s.begin(s.there, pairLong); s.begin(s.here, pairLong) },
		midway: func(s *side) {
			for _, w := range []*world{s.here, s.there} {
				if a := s.ask(w, pairBrief, "X-Deadline-Ms", "30"); a.code != "" {
					s.show("deadline")
				}
			}
		}},
	{name: "preemption", lead: "tight",
		begin: func(s *side) { s.begin(s.here, pairLong, "X-Priority", "-5") },
		midway: func(s *side) {
			s.ask(s.here, pairBrief, "X-Priority", "20")
		},
		end: func(s *side) {
			if r := s.receipt(s.there, s.held[0]); r != nil && r.Result.Preempted > 0 {
				s.show("preemption")
			}
		}},
	{name: "shadow", midway: func(s *side) {
		id := s.newID()
		body := fmt.Sprintf(`{"model":"octet","stream":true,"max_tokens":%d,"messages":[{"role":"user",`+
			`"content":"%s unsure 0.70"}]}`, pairBrief, id)
		if a := s.send(s.here, id, body, indexText(id, pairBrief), "X-Intent", "review"); a.head.Get("X-Shadow") != "" {
			s.show("shadow")
		}
	}},
	{name: "probation", lead: "renewed", begin: (*side).renew, midway: (*side).onTrial},
	{name: "second choice", may: []string{"upstream_reset", "no_healthy_replica", "breaker_open"},
		begin: func(s *side) { s.fault(`{"kind":"die_before_headers","times":1}`) }, midway: (*side).struck},
	{name: "continuation", may: []string{"upstream_reset", "no_healthy_replica", "breaker_open"},
		begin: func(s *side) { s.fault(`{"kind":"die_after_tokens","k":4,"times":1}`) }, midway: (*side).struck},
	{name: "drain", may: []string{"no_healthy_replica"},
		begin: func(s *side) {
			s.begin(s.here, pairLong)
			s.undo = append(s.undo, func() { s.control(s.here, http.MethodDelete, "/admin/drain/"+s.replica(), "{}") })
		},
		midway: func(s *side) {
			if s.control(s.here, http.MethodPost, "/admin/drain/"+s.replica(), "{}") == http.StatusOK {
				s.show("drain")
			}
			s.ask(s.here, pairBrief)
			s.ask(s.there, pairBrief)
		}},
	{name: "adapter", lead: "debug", midway: func(s *side) {
		for _, w := range []*world{s.here, s.there} {
			if a := s.ask(w, pairBrief, "X-Adapter", "gdb-v2"); a.good() && a.head.Get("X-Adapter") == "gdb-v2" {
				s.show("adapter")
			}
		}
	}},
	{name: "breaker", lead: "weighed", may: []string{"breaker_open"}, midway: (*side).demoteElsewhere,
		end: (*side).promote},
	{name: "receipts", begin: func(s *side) { s.begin(s.here, pairLong) }, midway: (*side).readReceipts},
	{name: "sleep", lead: "napping", may: []string{"overloaded"}, begin: (*side).putToSleep, midway: func(s *side) {
		_, before := s.here.Engines["n-0"].Sleeps()
		if s.ask(s.here, pairBrief).good() && s.ask(s.there, pairBrief).good() {
			if _, n := s.here.Engines["n-0"].Sleeps(); n > before {
				s.show("sleep")
			}
		}
	}},
	{name: "prefill", lead: "halves", begin: func(s *side) { s.begin(s.here, pairLong) }, end: func(s *side) {
		if r := s.receipt(s.there, s.held[0]); r != nil && len(r.Attempts) > 1 {
			s.show("prefill")
		}
	}},
	{name: "reload", begin: func(s *side) { s.begin(s.here, pairLong) }, midway: func(s *side) {
		s.reload(s.here, s.name, fmt.Sprintf("specialists[0].scheduler.aging=%dms", 1000+s.number))
		s.show("reload")
		s.ask(s.here, pairBrief)
	}},
	{name: "death", begin: (*side).bear, midway: (*side).die, end: (*side).mourn},
}

// until waits for what must come at the other gateway, and fails the cell without it.
func (s *side) until(what string, ok func() bool) { eventually(s.t, s.f.name+": "+what, ok) }

// slowly is until where each look asks a gateway.
func (s *side) slowly(what string, ok func() bool) {
	s.until(what, func() bool {
		time.Sleep(20 * time.Millisecond) // real time: looks that ask a gateway take its processor
		return ok()
	})
}

// fault arms one at the replica that answers first, and takes it back if no request meets it.
func (s *side) fault(text string) {
	name := s.replica()
	s.here.Fault(name, text)
	s.undo = append(s.undo, func() { s.here.clearFaults(name) })
}

func (s *side) struck() {
	for n := range 4 {
		a := s.ask(s.at[n%2], 2*pairBrief)
		if r := s.receipt(s.there, a); a.good() && r != nil && len(r.Attempts) > 1 {
			s.show(s.f.name)
			return
		}
	}
}

// spendRate spends a rate of three here: there at most one more passes, that came before it was told.
func (s *side) spendRate() {
	for range 3 {
		if a := s.ask(s.here, pairBrief); a.code == "quota_exceeded" {
			s.t.Errorf("%s is refused within its rate", a.id)
		}
	}
	passed := 0
	s.until("the rate is used up there", func() bool {
		a := s.ask(s.there, pairBrief)
		if a.code != "quota_exceeded" {
			passed++
		}
		return a.code == "quota_exceeded"
	})
	if passed > 1 {
		s.t.Errorf("%d more than the rate pass at the other gateway", passed)
	}
	if a := s.ask(s.here, pairBrief); a.code != "quota_exceeded" {
		s.t.Errorf("%s passes beyond the rate: %d %s", a.id, a.status, a.code)
	}
	s.show("rate")
}

func (s *side) spendBudget() {
	n := 0
	s.until("the day is used up", func() bool {
		n++
		return s.ask(s.here, pairBrief).code == "quota_exceeded" || n > 60
	})
	s.until("the day is used up there", func() bool { return s.ask(s.there, pairBrief).code == "quota_exceeded" })
	s.show("budget")
}

// queueByPriority has a less urgent request wait here and a more urgent one there, for one place. Both gateways have a
// long one at the engine before: without any of its own a gateway starts the first beside all of the others'.
func (s *side) queueByPriority() {
	here, there := s.here.Replica("t-0").Gate, s.there.Replica("t-0").Gate
	s.slowly("the place is free", func() bool {
		a, b := here.Stats(), there.Stats()
		return a.Running+a.Waiting+b.Running+b.Waiting == 0
	})
	long := s.begin(s.here, 2*pairLong, "X-Priority", "10")
	other := s.begin(s.there, 2*pairLong, "X-Priority", "10")
	s.slowly("both have the engine at work", func() bool {
		return (here.Stats().Running > 0 || s.over(long)) && (there.Stats().Running > 0 || s.over(other))
	})
	low := s.begin(s.here, pairBrief, "X-Priority", "-20")
	high := s.begin(s.there, pairBrief, "X-Priority", "5")
	told := func() bool { // the less urgent one waits, and its gateway knows of the other
		return here.Stats().Waiting > 0 && slices.ContainsFunc(s.state(s.here).Peers,
			func(p peering.Peer) bool {
				return slices.ContainsFunc(p.Holds, func(w peering.Work) bool {
					return w.Urgent != nil && *w.Urgent == 5
				})
			})
	}
	s.slowly("both wait, or one is answered", func() bool { return told() || s.over(low) || s.over(high) })
	fair := told() && !s.over(long) && !s.over(other)
	s.until("both are answered", func() bool { return s.over(low) && s.over(high) })
	if !fair || !low.good() || !high.good() {
		return
	}
	_, lowBegan, found := s.began(s.here, low)
	highBegan, _, known := s.began(s.there, high)
	if !found || !known {
		return
	}
	if lowBegan.Before(highBegan) {
		s.t.Errorf("%s has its place before %s, which is more urgent", low.id, high.id)
	}
	s.show("priority")
}

// began returns between which times a request that was answered at its first attempt was given its place, as its
// receipt has them: clients may read what came first after what came then. It returns false without a receipt.
func (s *side) began(w *world, a *pairAnswer) (earliest, latest time.Time, ok bool) {
	var r receipt.Receipt
	w.Get(w.Admin+"/admin/receipts/"+a.head.Get("X-Receipt-Id"), &r)
	if len(r.Attempts) != 1 {
		return earliest, latest, false
	}
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	earliest = r.Time.Add(ms(r.Attempts[0].QueueMs))
	return earliest, earliest.Add(ms(r.Result.TotalMs - r.Attempts[0].Ms)), true
}

func (s *side) repeatKey() {
	first := s.held[0].id
	again := s.send(s.there, first, chatOfPair(s.lead(), first, pairLong), "", "Idempotency-Key", s.tenant)
	switch {
	case again.code == "idempotency_conflict":
		s.show("key")
	case !s.over(s.held[0]):
		s.t.Errorf("%s is generated twice at once: %d %s", again.id, again.status, again.code)
	}
}

func (s *side) keyIsFree() {
	a := s.ask(s.there, pairBrief, "Idempotency-Key", s.tenant) // another body
	if s.held[0].good() && a.code != "idempotency_conflict" {
		s.t.Errorf("a key is used for two bodies: %d %s", a.status, a.code)
	}
}

func (s *side) knob() string { return []string{"load_floor.debug", "load_floor.systems"}[s.n] }

// setKnob sets a knob of the side's own.
func (s *side) setKnob() {
	want := float64(2 + s.number%7)
	s.control(s.here, http.MethodPut, "/admin/knobs/"+s.knob(), fmt.Sprintf(
		`{"value":%v,"by":"ops","why":"a cell","for":"1h"}`, want))
	for _, w := range s.alive() {
		s.until("the knob holds", func() bool { v, _, _ := w.App.Knobs().Own(s.knob()); return v == want })
	}
	s.show("knob")
}

func (s *side) clearKnob() {
	s.control(s.there, http.MethodDelete, "/admin/knobs/"+s.knob(), "")
	for _, w := range s.alive() {
		s.until("the knob is cleared", func() bool {
			for _, k := range w.App.Knobs().List() {
				if k.Name == s.knob() && k.Override != nil {
					return false
				}
			}
			return true
		})
	}
}

const pairOpening = surely + "0.90"

// sit begins a conversation here.
func (s *side) sit() {
	s.begin(s.here, pairBrief)
	s.opening = s.send(s.here, s.newID(), streamed(talk(pairOpening)), "", "X-Session-Id", s.tenant)
}

// sitElsewhere goes on with it there, with a question that another specialist would be asked otherwise.
func (s *side) sitElsewhere() {
	if !s.opening.good() {
		return
	}
	body := streamed(talk(pairOpening, "an answer", surely+"0.46"))
	s.slowly("the other gateway knows the conversation", func() bool {
		status, text := s.own(s.there, s.tenant, http.MethodPost, "/v1/route", body, "X-Session-Id", s.tenant)
		var e struct{ Decision struct{ Specialist string } }
		return json.Unmarshal(text, &e) != nil || status != http.StatusOK || e.Decision.Specialist == "debug"
	})
	a := s.send(s.there, s.newID(), body, "", "X-Session-Id", s.tenant)
	if a.good() && a.head.Get("X-Specialist") != "debug" {
		s.t.Errorf("%s is answered by %s", a.id, a.head.Get("X-Specialist"))
	}
	s.show("session")
}

// renew has both gateways serve another version.
func (s *side) renew() {
	for i, w := range s.at {
		s.reload(w, []string{"gw-a", "gw-b"}[i], fmt.Sprintf("specialists[6].version=%d", 1+s.number))
	}
}

// onTrial has an answer of the new version judged at the other gateway: it counts at both.
func (s *side) onTrial() {
	a := s.ask(s.here, pairBrief)
	if !a.good() {
		return
	}
	r := s.receipt(s.there, a)
	if r == nil || !r.Decision.Probation {
		return
	}
	if _, counted := s.judge(s.there, s.tenant, r.ID, "compile", true); !counted {
		s.t.Errorf("a verdict on %s does not count", a.id)
	}
	s.show("probation")
}

// demoteElsewhere has answers of both gateways judged at the other one, until the specialist is demoted at both.
func (s *side) demoteElsewhere() {
	demoted := func(w *world) bool {
		return w.App.Server().Runtime().Specialist("weighed").Board.Breaker().State(time.Now()).Standing != "primary"
	}
	both := func() bool { return demoted(s.here) && demoted(s.there) }
	judged := 0
	for n := 0; n < 30 && !both(); n++ { // each goes by what it has heard so far: one may be demoted before the other
		at := s.at[n%2]
		a := s.ask(at, pairBrief)
		if !a.good() || a.head.Get("X-Specialist") != "weighed" {
			continue
		}
		if _, counted := s.judge(s.at[1-n%2], s.tenant, a.head.Get("X-Receipt-Id"), "compile", false); counted {
			judged++
		}
	}
	if judged < 10 && !demoted(s.here) {
		return
	}
	s.until("it is demoted at both", both)
	if a := s.ask(s.there, pairBrief); a.good() && a.head.Get("X-Specialist") == "weighed" {
		s.t.Error("a demoted specialist answers")
	}
	s.show("breaker")
}

// promote has it be good again at both, which then go by the same verdicts: those that were on their way are forgotten.
func (s *side) promote() {
	for _, w := range s.at {
		w.App.Server().Runtime().Specialist("weighed").Board.Breaker().Refresh(time.Now())
	}
	for _, w := range s.at {
		board := w.App.Server().Runtime().Specialist("weighed").Board
		for range 10 {
			board.Outcome(slo.Verdict{Answered: time.Now(), Pass: true})
		}
		s.until("it has recovered", func() bool { return board.Breaker().State(time.Now()).Standing == "primary" })
	}
}

// readReceipts reads a receipt at the other gateway, as what may and what may not.
func (s *side) readReceipts() {
	a := s.ask(s.here, pairBrief)
	id := a.head.Get("X-Receipt-Id")
	for tenant, want := range map[string]int{s.tenant: 200, s.sides[1-s.n].tenant: 404} {
		if status, text := s.own(s.there, tenant, http.MethodGet, "/v1/receipts/"+id, ""); status != want {
			s.t.Errorf("%s asks for a receipt of %s: %d %s", tenant, s.tenant, status, text)
		}
	}
	s.show("receipts")
}

// putToSleep has the engine asleep, and both gateways know it.
func (s *side) putToSleep() {
	engine := s.here.Engines["n-0"]
	slept, before := engine.Sleeps()
	s.slowly("it sleeps, once requests of the other side's have left it", func() bool {
		s.here.do(http.MethodPost, engine.URL+"/sleep?level=1")
		var says struct {
			Asleep bool `json:"is_sleeping"`
		}
		s.here.Get(engine.URL+"/is_sleeping", &says)
		n, _ := engine.Sleeps()
		return says.Asleep || n > slept
	})
	for _, w := range s.at {
		s.until("it is known to sleep, or was woken", func() bool {
			_, n := engine.Sleeps()
			return !w.Replica("n-0").Fleet.Available() || n > before
		})
	}
}
