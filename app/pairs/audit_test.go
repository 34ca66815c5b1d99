package pairs

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"octet/gateway/receipt"
)

// audit holds a cell that has run against what holds in every cell.
func (c *cell) audit() {
	for _, a := range c.early {
		c.auditReceipt(a)
	}
	for _, a := range c.asked {
		c.auditReceipt(a)
		c.auditAnswer(a)
		c.auditTimes(a)
		for _, f := range c.features {
			if f.audit != nil {
				f.audit(c, a)
			}
		}
	}
	c.auditCaches()
	c.auditHeard()
	c.auditCharges()
	c.auditUsage()
	c.auditShadows()
	c.judgeAll("compile")
	c.auditSamples()
	c.auditLedgers()
	c.auditMemory()
}

// auditAnswer holds an answer to be whole and its own, or one typed error that may be.
func (c *cell) auditAnswer(a *answer) {
	switch {
	case a.left:
		if !strings.HasPrefix(a.whole(), a.text) || !strings.HasPrefix(a.whole(), a.beside) {
			c.t.Errorf("%s says %q and %q before its client hangs up", a.id, a.text, a.beside)
		}
	case a.status == http.StatusOK && a.code == "":
		if !a.done || !a.clean || a.text != a.whole() || a.choices() == 2 && a.beside != a.whole() {
			c.t.Errorf("%s: done %v, clean %v: %q, %q", a.id, a.done, a.clean, a.text, a.beside)
		}
		hidden := a.hides && a.stream && a.plain()
		tokens := a.tokens * a.choices()
		if hidden && a.usage != (usage{}) || !hidden && (a.usage.Completion != tokens || a.usage.Prompt == 0) {
			c.t.Errorf("%s: usage %+v of %d tokens", a.id, a.usage, tokens)
		}
		if sp := a.specialist(); !permits(a.tenant, sp) {
			c.t.Errorf("%s is answered by %s", a.id, sp)
		}
	case a.done || a.code == "" || a.status == http.StatusOK && a.clean:
		c.t.Errorf("%s: status %d, code %q, done %v, clean %v", a.id, a.status, a.code, a.done, a.clean)
	case !strings.HasPrefix(a.whole(), a.text) || !strings.HasPrefix(a.whole(), a.beside):
		c.t.Errorf("%s says %q and %q before %s", a.id, a.text, a.beside, a.code)
	case a.code != a.must && !slices.Contains(a.may, a.code):
		c.t.Errorf("%s: status %d, %s, after %v", a.id, a.status, a.code, a.ended)
	}
	if a.must != "" && a.code != a.must && !slices.Contains(a.may, a.code) {
		c.t.Errorf("%s: %q where it must be %s", a.id, a.code, a.must)
	}
	if after := a.head.Get("Retry-After"); after != "" {
		if n, err := strconv.Atoi(after); err != nil || n < 1 || n > 60 && !c.toTomorrow(a, n) || a.status < 400 {
			c.t.Errorf("%s: status %d, Retry-After %q", a.id, a.status, after)
		}
	}
}

// auditCaches holds what a tenant is told of caches to what it has asked itself.
func (c *cell) auditCaches() {
	asked := map[string]bool{} // by tenant, before
	list := append(slices.Clone(c.early), c.asked...)
	slices.SortFunc(list, func(a, b *answer) int { return a.at.Compare(b.at) })
	for _, a := range list {
		if n := a.head.Get("X-Cached-Tokens"); !asked[a.tenant] && n != "" && n != "0" {
			c.t.Errorf("%s is told of %s tokens that its tenant has not asked", a.id, n)
		}
		asked[a.tenant] = true
	}
}

// late is what an answer may be later than its deadline: a step of its engine.
const late = 2 * step

// auditTimes holds an answer to its deadlines.
func (c *cell) auditTimes(a *answer) {
	if ms := a.number("X-Deadline-Ms"); ms > 0 && a.ended > time.Duration(ms)*time.Millisecond+late {
		c.t.Errorf("%s ends after %v, its deadline is %d ms", a.id, a.ended, ms)
	}
	if ms := a.number("X-TTFT-Deadline-Ms"); ms > 0 && a.stream {
		if at := max(a.first, min(a.ended, time.Duration(math.MaxInt64))); a.first == 0 &&
			at > time.Duration(ms)*time.Millisecond+late || a.first > time.Duration(ms)*time.Millisecond+late {
			c.t.Errorf("%s has its first token after %v of %v, its deadline is %d ms", a.id, a.first, a.ended, ms)
		}
	}
}

// auditReceipt reads the receipt of an answer, which says what the client was told. No other tenant finds it.
func (c *cell) auditReceipt(a *answer) {
	id := a.head.Get("X-Receipt-Id")
	if id == "" {
		if a.status == http.StatusOK {
			c.t.Errorf("%s has no receipt", a.id)
		}
		return
	}
	r := new(receipt.Receipt)
	if status := c.read(a.tenant, "/v1/receipts/"+id, r); status != http.StatusOK {
		c.t.Errorf("%s: its receipt is %d", a.id, status)
		return
	}
	a.receipt = r
	other := map[string]string{"acme": "rival", "rival": "acme"}[a.tenant]
	if status := c.read(other, "/v1/receipts/"+id, nil); status != http.StatusNotFound {
		c.t.Errorf("%s reads the receipt of %s: status %d", other, a.id, status)
	}
	told := r.Result
	if r.RequestID != a.id || told.Status != a.status || told.Code != a.code || told.Done != a.done ||
		told.Specialist != a.specialist() && a.status == 200 || r.Decision.Shadow != a.head.Get("X-Shadow") && a.done {
		c.t.Errorf("%s: status %d, %q, %v; the receipt has %q, %+v", a.id, a.status, a.code, a.head, r.RequestID, told)
	}
	n := strings.Count(a.text+a.beside, "⟦")
	if told.CompletionTokens != n && (!a.left || told.CompletionTokens < n) {
		c.t.Errorf("%s: %d tokens, of which the receipt has %d", a.id, n, told.CompletionTokens)
	}
	want := min(a.number("X-Priority"), ceilings[a.tenant])
	if as := r.Asked; as.PriorityInUse != want || as.DeadlineMs != int64(a.number("X-Deadline-Ms")) ||
		as.TTFTDeadlineMs != int64(a.number("X-TTFT-Deadline-Ms")) || as.Stream != a.stream {
		c.t.Errorf("%s: the receipt has asked %+v", a.id, as)
	}
	for i, at := range r.Attempts {
		if at.Outcome == "" || i == len(r.Attempts)-1 && a.done && at.Outcome != receipt.OK {
			c.t.Errorf("%s: attempt %d ended in %q", a.id, i, at.Outcome)
		}
	}
	if a.done && len(r.Attempts) == 0 {
		c.t.Errorf("%s: an answer without an attempt", a.id)
	}
	for _, f := range c.features {
		if f.seen != nil && f.seen(a) {
			c.showed(f.name)
		}
	}
}

// auditShadows holds comparisons to the whole answers of one specialist, or adapter, whose copies another was sent. A
// copy that is with a second choice when that is asked itself ends.
func (c *cell) auditShadows() {
	of := map[string]float64{}
	for _, a := range append(slices.Clone(c.asked), c.early...) {
		if sp := a.head.Get("X-Shadow"); a.done && (sp != a.specialist() || a.head.Get("X-Adapter") != "") {
			of[sp]++
		}
	}
	for sp := range specialists {
		n := c.Metric("http://admin", "octet_shadows_total", `specialist="`+sp+`"`, `outcome="compared"`)
		if n > of[sp] {
			c.t.Errorf("%v answers of %s are compared with others', %v may be", n, sp, of[sp])
		}
	}
}

// most is acme's token rate: in a minute, and at once.
const most = 6000

// startCharges takes half of acme's tokens, so that its balance neither is full nor ends.
func (c *cell) startCharges() {
	if _, err := c.tenant("acme").Charge(time.Now(), most/2); err != nil {
		c.t.Fatal(err)
	}
	c.opened, c.balance = time.Now(), most/2
}

// balanceOf returns what is left of a tenant's tokens: a charge of all is told when it could be.
func (c *cell) balanceOf(tenant string) float64 {
	t, now := c.tenant(tenant), time.Now()
	taken, err := t.Charge(now, most)
	if err == nil {
		t.Settle(now, taken, 0)
		return most
	}
	return most - err.RetryAfter.Seconds()*most/60
}

// auditCharges holds what acme has paid against its receipts.
func (c *cell) auditCharges() {
	want := c.balance + time.Since(c.opened).Seconds()*most/60
	for _, a := range append(slices.Clone(c.asked), c.early...) {
		if a.tenant == "acme" && a.receipt != nil {
			want -= float64(cost(a.receipt))
		}
	}
	if got := c.balanceOf("acme"); math.Abs(got-want) > 2 {
		c.t.Errorf("acme has %.0f tokens left, by its receipts %.0f", got, want)
	}
}

// auditUsage holds what each tenant has used of the day to the receipts of all that it has asked: no copy, probe, retry
// or refusal is among it, and nothing counts twice.
func (c *cell) auditUsage() {
	want := map[string]int64{"acme": 0, "rival": 0}
	for _, a := range append(slices.Clone(c.asked), c.early...) {
		if a.receipt != nil {
			want[a.tenant] += int64(cost(a.receipt))
		}
	}
	for tenant, n := range want {
		n += c.spent[tenant]
		if u := c.tenant(tenant).Usage(time.Now()); u.Day.Tokens != n || u.Month.Tokens != n {
			c.t.Errorf("%s has used %d of the day and %d of the month, by its receipts %d", tenant, u.Day.Tokens,
				u.Month.Tokens, n)
		}
	}
}

// cost is what a request is charged.
func cost(r *receipt.Receipt) int {
	admitted := false
	for _, at := range r.Attempts {
		switch at.Outcome {
		case "queue_full", "kv_exhausted", "deadline_unachievable", "breaker_open", "not_tried",
			"context_length_exceeded":
		default:
			admitted = true
		}
	}
	switch {
	case !admitted:
		return 0
	case r.Result.PromptTokens > 0:
		return r.Result.PromptTokens + r.Result.CompletionTokens
	}
	return r.Prompt.Tokens + r.Result.CompletionTokens
}

// post asks a route of the data listener as a tenant.
func (c *cell) post(tenant, path, body string) (status int, counted bool) {
	c.t.Helper()
	resp, err := c.Ask(context.Background(), http.MethodPost, "http://data"+path, body, "Authorization",
		"Bearer "+tenant)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var said struct{ Counted bool }
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		c.t.Errorf("%s: %v", path, err)
	}
	return resp.StatusCode, said.Counted
}

// judgeAll gives every answer two verdicts of a kind: the first counts where there is an answer, another's never does.
func (c *cell) judgeAll(kind string) {
	other := map[string]string{"acme": "rival", "rival": "acme"}
	for _, a := range slices.Clone(c.asked) {
		id := a.head.Get("X-Receipt-Id")
		if id == "" {
			continue
		}
		if status, counted := c.judge(other[a.tenant], id, kind); status != http.StatusNotFound || counted {
			c.t.Errorf("%s judges %s: status %d, counted %v", other[a.tenant], a.id, status, counted)
		}
		for i, want := range []bool{a.status == http.StatusOK, false} {
			if status, counted := c.judge(a.tenant, id, kind); status != http.StatusOK || counted != want {
				c.t.Errorf("%s: verdict %d: status %d, counted %v", a.id, i, status, counted)
			}
		}
	}
}

// auditSamples holds the windows of correctness to one sample an answer.
func (c *cell) auditSamples() {
	want, got := map[string]int{}, map[string]int{}
	for _, a := range c.asked {
		if a.status == http.StatusOK && c.judgedAnew(a) {
			want[a.specialist()]++
		}
	}
	for _, sp := range c.App.Server().Runtime().Specialists {
		got[sp.Name] = sp.Board.Breaker().State(time.Now()).Samples
		if got[sp.Name] != want[sp.Name] {
			c.t.Errorf("%s has %d samples, %d of its answers were judged", sp.Name, got[sp.Name], want[sp.Name])
		}
	}
}

// auditLedgers holds all that is held to its baseline.
func (c *cell) auditLedgers() {
	for _, rep := range c.replicas() {
		if s := rep.Gate.Stats(); s.Used+s.Reserved+s.Waiting+s.Running+s.Preempting != 0 || s.Free != s.Total {
			c.t.Errorf("%s: its Gate has %+v", rep.Name, s)
		}
		if err := rep.Gate.Check(); err != nil {
			c.t.Errorf("%s: %v", rep.Name, err)
		}
		if l := rep.Fleet.Load(); l.InFlight+l.Backlog+l.Tokens != 0 || rep.Shadows.Load() != 0 {
			c.t.Errorf("%s: its ledger has %+v and %d shadows", rep.Name, l, rep.Shadows.Load())
		}
		if state := rep.Fleet.State(); state != "closed" || rep.Fleet.Draining() {
			c.t.Errorf("%s: breaker %s, draining %v", rep.Name, state, rep.Fleet.Draining())
		}
	}
	for name, e := range c.Engines {
		if s := e.Stats(); s.Used+s.Reserved+s.Waiting+s.Running != 0 {
			c.t.Errorf("engine %s: %+v", name, s)
		}
	}
	c.auditHolds()
	c.auditOpen()
}

// enters returns how many more requests acme can open.
func (c *cell) enters() (n int) {
	acme := c.tenant("acme")
	for n <= acme.MaxStreams && acme.Enter() == nil {
		n++
	}
	for range n {
		acme.Leave()
	}
	return n
}

// auditOpen holds acme's open requests to none: as many as it may can be opened, and no more.
func (c *cell) auditOpen() {
	if n, most := c.enters(), c.tenant("acme").MaxStreams; n != most {
		c.t.Errorf("acme can open %d requests, it may %d", n, most)
	}
	if n := c.Metric("http://admin", "octet_open_requests"); n != 0 {
		c.t.Errorf("%v requests are open", n)
	}
}

// auditMemory holds the memory of bodies to none: a body of just the bound passes, and one of a byte more does not.
func (c *cell) auditMemory() {
	const bound = 65536
	for size, want := range map[int]int{bound: http.StatusBadRequest, bound + 1: http.StatusServiceUnavailable} {
		body := `{"x":"` + strings.Repeat("x", size-8) + `"}`
		if status, _ := c.post("rival", "/v1/chat/completions", body); status != want {
			c.t.Errorf("a body of %d bytes: status %d, want %d", size, status, want)
		}
	}
}
