package wire

// EngineRuns reports whether a chat offers a tool that an engine may run by itself: one of any other type than those
// that clients run.
func (r *Request) EngineRuns() bool {
	for i := range r.listed {
		if t := &r.listed[i]; !clientRuns(memberIn(r.p.b[t.off:t.end], "type")) {
			return true
		}
	}
	return false
}

// clientRuns reports whether clients run tools of a type; nil, which is without one, is a function's.
func clientRuns(raw []byte) bool {
	if raw == nil {
		return true
	}
	if raw[0] != '"' {
		return false
	}
	kind := string(AppendUnquoted(nil, raw[1:len(raw)-1]))
	return kind == "function" || kind == "custom"
}
