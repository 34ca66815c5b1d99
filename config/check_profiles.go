package config

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Bounds of what a request is asked before it is routed.
const (
	maxProfileRules   = 64
	maxProfileHeaders = 16
)

func checkProfiles(c *Config, r *report, presets []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		if slices.Contains(presets, name) {
			r.addAt(join("profiles", name), CodeReservedName, "%q is a preset's name", name)
		}
	}
	checkHeaders("limits.profile_headers", c.Limits.ProfileHeaders, "no plugin sees it", r)
	checkForwardHeaders(c, r)
	for i := range c.Specialists {
		checkProfileRules(c, i, r)
	}
	if presets == nil {
		return
	}
	known := append(slices.Sorted(maps.Keys(c.Profiles)), presets...)
	for i := range c.Specialists {
		for path, profile := range profileRefs(c, i) {
			if profile != "" && !slices.Contains(known, profile) {
				r.addAt(path, CodeUnknownName, "there is no profile %q%s", clip(profile), didYouMean(profile, known))
			}
		}
	}
}

// profileRefs yields where specialist i names a profile, and the name; empty if it is left open.
func profileRefs(c *Config, i int) func(yield func(path, profile string) bool) {
	s, at := &c.Specialists[i], item("specialists", i)
	d := s.Disaggregation
	return func(yield func(path, profile string) bool) {
		for j, rule := range s.Profiles {
			if !yield(item(at+".profiles", j)+".use", rule.Use) {
				return
			}
		}
		_ = yield(at+".profile", s.Profile) &&
			yield(at+".disaggregation.preprocess.profile", d.Preprocess.Profile) &&
			yield(at+".disaggregation.prefill.profile", d.Prefill.Profile) &&
			yield(at+".disaggregation.decode_profile", d.DecodeProfile)
	}
}

// ProfileRefs yields where specialist i names a profile that it uses, and the name.
func (c *Config) ProfileRefs(i int) func(yield func(path, profile string) bool) {
	return func(yield func(path, profile string) bool) {
		for path, name := range profileRefs(c, i) {
			chosen := len(c.Specialists[i].Profiles) > 0 && path == item("specialists", i)+".profile"
			if name != "" && !chosen && !yield(path, name) {
				return
			}
		}
	}
}

// ProfilesOf returns the names of the profiles that specialist i uses, some more than once.
func (c *Config) ProfilesOf(i int) (names []string) {
	for _, name := range c.ProfileRefs(i) {
		names = append(names, name)
	}
	return names
}

// secretHeaders are the request headers that no plugin sees.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "Cookie2",
	"X-Api-Key"}

// reservedHeaders begin the names of headers by which others tell their own servers where to send a request, or for
// which tenant. A client's are never honoured.
var reservedHeaders = []string{"X-Gateway-", "X-Prefiller-", "X-Data-Parallel-", "X-Tenant", "X-Octet-", "X-Shadow"}

// checkHeaders notes headers of a list that nothing may read, and names that are none.
func checkHeaders(path string, list []string, secret string, r *report) {
	if n := len(list); n > maxProfileHeaders {
		r.addAt(path, CodeTooMany, "%d headers, at most %d", n, maxProfileHeaders)
	}
	taken := newNames(r, CodeDuplicateName)
	for i, name := range list {
		at, header := item(path, i), canonicalHeader(name)
		taken.take(header, at)
		begins := func(prefix string) bool { return strings.HasPrefix(header, prefix) }
		switch {
		case slices.Contains(secretHeaders, header):
			r.addAt(at, CodeReservedName, "%s is a secret of the client's: %s", header, secret)
		case slices.ContainsFunc(reservedHeaders, begins):
			r.addAt(at, CodeReservedName, "%s names an internal destination or identity: a client's is never honoured",
				header)
		}
	}
}

// framing are the request headers that the gateway writes itself for each engine; so are all that begin with Content-
// or Proxy-.
var framing = []string{"Host", "Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Expect",
	"Accept", "Accept-Encoding", "User-Agent", "X-Request-Id"}

// checkForwardHeaders notes headers that no engine may be sent as they come.
func checkForwardHeaders(c *Config, r *report) {
	const path = "limits.forward_headers"
	checkHeaders(path, c.Limits.ForwardHeaders, "no engine is sent it", r)
	for i, name := range c.Limits.ForwardHeaders {
		header := canonicalHeader(name)
		own := strings.HasPrefix(header, "Content-") || strings.HasPrefix(header, "Proxy-") &&
			!slices.Contains(secretHeaders, header)
		if own || slices.Contains(framing, header) {
			r.addAt(item(path, i), CodeReservedName, "%s is the gateway's to set for each engine", header)
		}
	}
}

func canonicalHeader(name string) string {
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

// checkProfileRules notes rules of specialist i that no request reaches, and requests that reach no rule.
func checkProfileRules(c *Config, i int, r *report) {
	s, at := &c.Specialists[i], item("specialists", i)
	if len(s.Profiles) == 0 {
		return
	}
	path := at + ".profiles"
	if n := len(s.Profiles); n > maxProfileRules {
		r.addAt(path, CodeTooMany, "%d rules, at most %d", n, maxProfileRules)
		return
	}
	if r.given(at + ".profile") {
		r.addAt(at+".profile", CodeConflict, "profiles chooses the profile: leave one of the two out")
	}
	if d := s.Disaggregation; s.Workflow != "single" && d.Prefill.Profile != "" && d.DecodeProfile != "" {
		r.addAt(path, CodeConflict, "of no effect: every leg names a profile of its own")
	}
	last := len(s.Profiles) - 1
	for j := range s.Profiles {
		checkWhen(c, s.Profiles[j].When, item(path, j)+".when", r)
		if k, hidden := s.hiddenBy(j); hidden {
			r.addAt(item(path, j), CodeUnreachable, "no request comes here: %s takes all that fit this rule",
				item(path, k))
		}
	}
	switch rule := &s.Profiles[last]; {
	case rule.When != nil:
		r.addAt(path, CodeMissing, "there is no default: the last rule must have no when, for what fits no other")
	case rule.IfNone == "next":
		r.addAt(item(path, last)+".if_none", CodeConflict, "no rule comes after the last")
	}
}

// hiddenBy returns the first rule before rule j that takes all that would fit it.
func (s *Specialist) hiddenBy(j int) (int, bool) {
	for k := range s.Profiles[:j] {
		earlier := &s.Profiles[k]
		if earlier.IfNone != "next" && earlier.Fits().covers(s.Profiles[j].Fits()) {
			return k, true
		}
	}
	return 0, false
}

// Fits returns which requests the rule is for.
func (p *ProfileRule) Fits() *When {
	if p.When == nil {
		always := Always()
		return &always
	}
	return p.When
}

// checkWhen notes conditions that no request can fulfil, and what they name that is not there.
func checkWhen(c *Config, w *When, path string, r *report) {
	if w == nil {
		return
	}
	if _, known := c.Intents[w.Intent]; w.Intent != "" && w.Intent != Unspecified && !known {
		intents := append(slices.Sorted(maps.Keys(c.Intents)), Unspecified)
		r.addAt(path+".intent", CodeUnknownName, "there is no intent %q%s", clip(w.Intent),
			didYouMean(w.Intent, intents))
	}
	if w.PriorityMin > w.PriorityMax {
		r.addAt(path+".priority_max", CodeConflict, "%d is below priority_min, %d: no request fits", w.PriorityMax,
			w.PriorityMin)
	}
	if w.PromptTokensMax > 0 && w.PromptTokensMin > w.PromptTokensMax {
		r.addAt(path+".prompt_tokens_max", CodeConflict, "%d is below prompt_tokens_min, %d: no request fits",
			w.PromptTokensMax, w.PromptTokensMin)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		listed := func(other string) bool { return strings.EqualFold(name, other) }
		if !slices.ContainsFunc(c.Limits.ProfileHeaders, listed) {
			r.addAt(join(path+".header", name), CodeUnknownName,
				"limits.profile_headers does not list %q: rules see no other header", clip(name))
		}
	}
}

// canonical returns headers by their canonical names.
func canonical(headers map[string]string) map[string]string {
	out := make(map[string]string, len(headers))
	for name, value := range headers {
		out[http.CanonicalHeaderKey(name)] = value
	}
	return out
}

// String says the conditions in a few words, such as "intent codegen, 2000 prompt tokens or more".
func (w *When) String() string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if w.Intent != "" {
		say("intent %s", w.Intent)
	}
	if w.PriorityMin > -100 {
		say("priority %d or more", w.PriorityMin)
	}
	if w.PriorityMax < 100 {
		say("priority %d or less", w.PriorityMax)
	}
	if w.PromptTokensMin > 0 {
		say("%d prompt tokens or more", w.PromptTokensMin)
	}
	if w.PromptTokensMax > 0 {
		say("%d prompt tokens or fewer", w.PromptTokensMax)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Header)) {
		say("%s: %s", name, w.Header[name])
	}
	if len(parts) == 0 {
		return "any request"
	}
	return strings.Join(parts, ", ")
}
