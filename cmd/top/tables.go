package top

import (
	"fmt"
	"strings"
	"time"

	"octet/gateway/api"
	"octet/gateway/live"
	"octet/slo"
)

// table is what the view lists, sorted and filtered.
func (m *Model) table() *table {
	var t *table
	switch m.shows {
	case replicas:
		t = m.replicas()
	case requests:
		t = m.requests()
	case decisions:
		t = m.decisions()
	case loaded:
		t = m.adapters()
	default:
		t = m.specialists()
	}
	t.keep(m.filter)
	t.sort(m.list[m.shows].sort, m.list[m.shows].reverse)
	if m.filter != "" {
		t.empty = "nothing contains " + clean(m.filter)
	}
	return t
}

// columns makes the columns of names; those of numbers begin with a #.
func columns(names ...string) (all []column) {
	for _, n := range names {
		name, number := strings.CutPrefix(n, "#")
		all = append(all, column{name, number})
	}
	return all
}

func (m *Model) specialists() *table {
	t := &table{columns: columns("SPECIALIST", "#UP", "#RUN", "#WAIT", "#POOL U/R/C/F", "#HIT", "#TTFT95",
		"#CORRECT/FLOOR", "BREAKER", "#SHADOW", "#ITL95", "#LATE", "LOAD", "#YIELD", "QUEUE"),
		empty: "the gateway has no specialist"}
	if m.reading == nil {
		return t
	}
	for i := range m.reading.State.Specialists {
		s := &m.reading.State.Specialists[i]
		report, breaker := m.reading.SLOs[s.Name], m.reading.Breakers.Specialists[s.Name]
		blocks := pool{s.Total, s.Used, s.Reserved, s.Cached, s.Free}
		up := serving(s.Replicas)
		demoted := breaker.Correctness.Standing != "primary" && breaker.Correctness.Standing != ""
		t.rows = append(t.rows, row{key: s.Name, cells: []cell{word(clean(s.Name)),
			valued(fmt.Sprintf("%d/%d", up, len(s.Replicas)), float64(up)).as(bad, up < len(s.Replicas)),
			count(s.Running), count(s.Waiting), blocks.cell(), share(s.Hits.Share), milliseconds(report.TTFT.P95),
			correct(&report.Correctness), word(orDash(breaker.Correctness.Standing)).as(bad, demoted), count(s.Shadow),
			milliseconds(report.ITL.P95), share(report.Deadlines.Fraction), word(load(breaker.Load)),
			count(s.Preempting), word(queue(s.Queue))},
			detail: func() []string { return specialistDetail(s, &report, &breaker.Correctness, breaker.Load) }})
	}
	return t
}

// serving is how many replicas get requests.
func serving(all []api.ReplicaState) (n int) {
	for i := range all {
		if standing(&all[i]) == "up" {
			n++
		}
	}
	return n
}

func correct(c *slo.Correctness) cell {
	if c.Rate == nil {
		return valued(fmt.Sprintf("-/%.1f", 100*c.Floor), -1)
	}
	return valued(fmt.Sprintf("%.1f/%.1f", 100**c.Rate, 100*c.Floor), *c.Rate).as(bad, *c.Rate < c.Floor)
}

func load(l *slo.EscalationState) string {
	if l == nil {
		return "-"
	}
	return [...]string{"normal", "diverting", "throttling"}[max(0, min(l.Step, 2))]
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return clean(s)
}

func specialistDetail(s *api.SpecialistState, r *slo.Report, b *slo.BreakerState, l *slo.EscalationState) []string {
	times := func(l *slo.Latency) string {
		return milliseconds(l.P50).text + "/" + milliseconds(l.P95).text + "/" + milliseconds(l.P99).text
	}
	verdict := "too few verdicts"
	if c := &r.Correctness; c.Rate != nil {
		verdict = "keeps"
		if *c.Rate < c.Floor {
			verdict = "is below"
		}
	}
	stands := ""
	if s.Fallback != "" {
		stands = ", fallback " + clean(s.Fallback)
		if b.Standing == "shadow-only" {
			stands = ", " + clean(s.Fallback) + " stands in"
		}
	}
	return []string{
		fmt.Sprintf("queue    %s  shadows %d  giving way %d  load %s%s", queue(s.Queue), s.Shadow, s.Preempting,
			load(l),
			pressure(l)),
		pool{s.Total, s.Used, s.Reserved, s.Cached, s.Free}.detail(),
		fmt.Sprintf("%s; %d/%d tokens", hits(&s.Hits), s.Totals.Cached, s.Totals.Prompt),
		fmt.Sprintf("slo      p50/p95/p99 ttft %s, itl %s; late %s", times(&r.TTFT), times(&r.ITL),
			share(r.Deadlines.Fraction).text),
		fmt.Sprintf("correct  %s %s the floor, %d verdicts; %s%s", correct(&r.Correctness).text, verdict,
			r.Correctness.Samples, orDash(b.Standing), stands),
	}
}

func pressure(l *slo.EscalationState) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf(" %.2f of %.2f", l.Pressure, l.Enter)
}

// standing is a replica's state in a word.
func standing(r *api.ReplicaState) string {
	switch {
	case r.Why != "":
		return clean(r.Why)
	case r.Draining:
		return "draining"
	case !r.Healthy:
		return "down"
	case r.Breaker == "open":
		return "broken"
	}
	return "up"
}

// replica is the state of one; nil if it is there no more.
func (m *Model) replica(name string) *api.ReplicaState {
	for i := range m.reading.State.Specialists {
		all := m.reading.State.Specialists[i].Replicas
		for j := range all {
			if all[j].Name == name {
				return &all[j]
			}
		}
	}
	return nil
}

func (m *Model) replicas() *table {
	t := &table{columns: columns("REPLICA", "SPECIALIST", "STATE", "#RUN", "#WAIT", "#POOL U/R/C/F", "#HIT", "BREAKER",
		"#SHADOW", "#FLIGHT", "#YIELD", "ENGINE", "SOURCE", "QUEUE"), empty: "no specialist has a replica"}
	if m.reading == nil {
		return t
	}
	for i := range m.reading.State.Specialists {
		s := &m.reading.State.Specialists[i]
		for j := range s.Replicas {
			r := &s.Replicas[j]
			blocks, state := pool{r.Total, r.Used, r.Reserved, r.Cached, r.Free}, standing(r)
			t.rows = append(t.rows, row{key: r.Name, cells: []cell{word(clean(r.Name)), word(clean(s.Name)),
				word(state).as(bad, state != "up").as(warn, state == "draining"), count(r.Running),
				count(r.Waiting), blocks.cell(), share(r.Hits.Share),
				word(orDash(r.Breaker)).as(bad, r.Breaker != "closed"),
				count(r.Shadow), count(r.InFlight), count(r.Preempting), word(clean(r.Engine)), word(clean(r.Source)),
				word(queue(r.Queue))},
				detail: func() []string { return replicaDetail(s, r) }})
		}
	}
	return t
}

func replicaDetail(s *api.SpecialistState, r *api.ReplicaState) []string {
	return []string{
		fmt.Sprintf("queue    %s   shadows %d   giving way %d   in flight %d", queue(r.Queue), r.Shadow, r.Preempting,
			r.InFlight),
		pool{r.Total, r.Used, r.Reserved, r.Cached, r.Free}.detail(), hits(&r.Hits),
		fmt.Sprintf("engine   %s at %s %s", clean(r.Engine), clean(r.URL), clean(r.Revision)),
		fmt.Sprintf("breaker  %s; %s; %s, found by %s", orDash(r.Breaker), standing(r), clean(s.Name), clean(r.Source)),
	}
}

// requestKey names a request at a replica: its shadow has the same id elsewhere.
func requestKey(r *api.OpenRequest) string { return r.Replica + "\x00" + r.ID }

func requestID(key string) string {
	_, id, _ := strings.Cut(key, "\x00")
	return id
}

func (m *Model) requests() *table {
	t := &table{columns: columns("REQUEST", "#AGE", "STAGE", "REPLICA", "#PRIO", "#PROMPT", "#ANSWER", "#QUEUED",
		"#BLOCKS", "TENANT", "ADAPTER", "SPECIALIST"), empty: "no request is open at a replica"}
	if m.reading == nil {
		return t
	}
	for i := range m.reading.Requests {
		r := &m.reading.Requests[i]
		stage := clean(r.Stage)
		if r.Shadow {
			stage = "shadow"
		}
		age, queued := time.Duration(r.AgeMs)*time.Millisecond, time.Duration(r.QueuedMs)*time.Millisecond
		t.rows = append(t.rows, row{key: requestKey(r), cells: []cell{word(clean(r.ID)),
			valued(lasting(age), float64(r.AgeMs)), word(stage).as(warn, r.Stage == "waiting"), word(clean(r.Replica)),
			count(r.Priority), count(r.Prompt), count(r.Completion), valued(lasting(queued), float64(r.QueuedMs)),
			count(r.Blocks), word(orDash(r.Tenant)), word(orDash(r.Adapter)), word(clean(r.Specialist))},
			detail: func() []string {
				return []string{
					fmt.Sprintf("request  %s of %s", clean(r.ID), orDash(r.Tenant)),
					fmt.Sprintf("at       %s of %s, adapter %s", clean(r.Replica), clean(r.Specialist),
						orDash(r.Adapter)),
					fmt.Sprintf("way      %s for %s, of it %s in the queue", clean(r.Stage), lasting(age),
						lasting(queued)),
					fmt.Sprintf("tokens   %d of the prompt, %d of the answer; %d blocks", r.Prompt, r.Completion,
						r.Blocks),
					"receipt  enter opens it once the request has ended",
				}
			}})
	}
	return t
}

func (m *Model) decisions() *table {
	t := &table{columns: columns("TIME", "SPECIALIST", "REPLICA", "OUTCOME", "#TTFT", "#TOTAL", "#HIT", "BY", "TENANT",
		"RECEIPT"), empty: "no decision has ended since this view was opened"}
	if m.watching != "" {
		t.empty = "decisions are not told: " + m.watching
	}
	for i := range m.live {
		t.rows = append(t.rows, decisionRow(&m.live[i]))
	}
	return t
}

func decisionRow(e *live.Event) row {
	delivered := "-"
	if e.Delivered != nil {
		delivered = number(*e.Delivered)
	}
	return row{key: e.Receipt, cells: []cell{word(e.Time.Local().Format(time.TimeOnly)), word(clean(e.Specialist)),
		word(orDash(e.Replica)), word(clean(e.Outcome)).as(bad, e.Outcome != live.OK), milliseconds(&e.TTFTMs),
		milliseconds(&e.TotalMs), valued(fmt.Sprintf("%d/%s", e.Predicted, delivered), float64(e.Predicted)),
		word(clean(e.RoutedBy)), word(clean(e.Tenant)), word(clean(e.Receipt))},
		detail: func() []string {
			return []string{
				fmt.Sprintf("receipt  %s of %s", clean(e.Receipt), clean(e.Tenant)),
				fmt.Sprintf("asked    model %s, intent %s, priority %d", clean(e.Model), orDash(e.Intent), e.Priority),
				fmt.Sprintf("went     to %s by %s, shadow %s, %d attempts", clean(e.Specialist), clean(e.RoutedBy),
					orDash(e.Shadow), e.Attempts),
				fmt.Sprintf("hit      %d tokens predicted, %s delivered, of %d; %d of the answer", e.Predicted,
					delivered,
					e.Prompt, e.Completion),
				fmt.Sprintf("ended    %s, status %d", clean(e.Outcome), e.Status),
			}
		}}
}
