package trace

// longest is how many bytes of a word that the configuration does not bound are in a span.
const longest = 256

func clip(text string) string { return text[:min(len(text), longest)] }

// whole adds the span of the request itself.
func (m *maker) whole() {
	d, r := m.draft, m.Receipt
	s := Span{Context: d.Context, Parent: d.parent, Remote: d.parent != 0, Kind: Server, Fault: m.Fault,
		Start: m.Arrival, End: m.Arrival.Add(m.Total)}
	a := (*list)(&s.Attrs)
	model := ""
	if n := len(r.Attempts); n > 0 {
		model = m.Engine(r.Attempts[n-1].Replica).Model
	}
	s.Name = m.operation(a, "octet", model)
	a.text("http.request.method", "POST")
	a.text("http.route", m.Asked.Path)
	a.number("http.response.status_code", r.Result.Status)
	a.text("octet.receipt", r.ID)
	a.text("octet.request", m.Asked.Request)
	a.text("octet.tenant", m.Asked.Tenant)
	a.text("octet.door", m.Asked.Door)
	a.flag("octet.door.native", d.native)
	m.decided(a)
	m.asked(a)
	m.came(a)
	if d.beside != nil {
		s.Links = []Context{*d.beside}
	}
	m.spans = append(m.spans, s)
}

// operation adds what a call to a model is called, and returns the name of its span.
func (m *maker) operation(a *list, provider, answered string) string {
	name, r := "chat", m.Receipt
	if m.Asked.Completion {
		name = "text_completion"
	}
	a.text("gen_ai.operation.name", name)
	a.text("gen_ai.provider.name", provider)
	asked := clip(r.Asked.Model)
	a.text("gen_ai.request.model", asked)
	a.text("gen_ai.response.model", answered)
	if asked == "" {
		return name
	}
	return name + " " + asked
}

// decided adds which specialist answers, and why.
func (m *maker) decided(a *list) {
	d := &m.Receipt.Decision
	a.text("octet.specialist", d.Specialist)
	a.text("octet.adapter", d.Adapter)
	a.text("octet.version", d.Version)
	a.text("octet.routed_by", d.RoutedBy)
	a.text("octet.rule", d.Rule)
	if d.Confidence != nil {
		a.float("octet.confidence", *d.Confidence)
	}
	a.text("octet.demoted", d.Demoted)
	a.text("octet.second", d.Second)
	a.flag("octet.probation", d.Probation)
}

// asked adds what the client asked for.
func (m *maker) asked(a *list) {
	q := &m.Receipt.Asked
	a.number("gen_ai.request.max_tokens", q.MaxTokens)
	a.flag("gen_ai.request.stream", q.Stream)
	a.text("octet.intent", clip(q.Intent))
	a.number("octet.priority", q.PriorityInUse)
	a.number("octet.deadline_ms", int(q.DeadlineMs))
	a.number("octet.ttft_deadline_ms", int(q.TTFTDeadlineMs))
}

// came adds what came of the request.
func (m *maker) came(a *list) {
	r := &m.Receipt.Result
	if r.Finish != "" {
		*a = append(*a, Attr{"gen_ai.response.finish_reasons", []string{clip(r.Finish)}})
	}
	tokens := r.PromptTokens
	if tokens == 0 && r.CompletionTokens > 0 {
		tokens = m.Receipt.Prompt.Tokens
	}
	a.number("gen_ai.usage.input_tokens", tokens)
	a.number("gen_ai.usage.output_tokens", r.CompletionTokens)
	if r.CachedTokens != nil {
		a.number("gen_ai.usage.cache_read.input_tokens", *r.CachedTokens)
	}
	a.float("gen_ai.response.time_to_first_chunk", r.TTFTMs/1e3)
	if n := len(m.Receipt.Attempts); n > 0 {
		a.text("octet.replica", m.Receipt.Attempts[n-1].Replica)
		a.number("octet.attempts", n)
	}
	a.number("octet.continued", r.Continued)
	a.number("octet.preempted", r.Preempted)
	a.float("octet.held_ms", r.HeldMs)
	a.flag("octet.woke", r.Woke)
	a.text("octet.shadow", m.Receipt.Decision.Shadow)
}
