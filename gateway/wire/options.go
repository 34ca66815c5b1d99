package wire

func structured(p *parser) { p.present(&p.r.Structured) }

func unsupported(p *parser) {
	if !p.Null() {
		p.refuse(CodeUnsupportedParameter, "is not supported")
		p.Skip()
	}
}

func reserved(p *parser) {
	if !p.Null() {
		p.refuse(CodeUnsupportedParameter, "is the gateway's to set; priority and adapter are said in headers")
		p.Skip()
	}
}

func (p *parser) modelName() {
	var t text
	if !p.string(&t) {
		return
	}
	plain := p.bytes(p.plain(t))
	if string(plain) != p.model {
		p.model = string(plain)
	}
	p.r.Model = p.model
}

func (p *parser) streamOptions() {
	if p.Null() {
		return
	}
	if !p.object("must be an object") {
		return
	}
	for name, ok := p.key(); ok; name, ok = p.key() {
		switch plain := p.bytes(name); string(plain) {
		case "include_usage":
			p.under("include_usage")
			p.boolean(&p.r.StreamOptions.IncludeUsage)
		case "continuous_usage_stats":
			p.under("continuous_usage_stats")
			p.boolean(&p.r.StreamOptions.ContinuousUsage)
		case "include_obfuscation":
			p.under("include_obfuscation")
			p.boolean(new(bool))
		default:
			p.under(clipped(plain))
			p.refuse(CodeUnsupportedParameter, "is not supported")
			p.Skip()
		}
		p.up()
	}
}

func (p *parser) seed() {
	if p.Null() {
		return
	}
	at := p.i
	if _, ok := p.Int(); !ok {
		p.refuseAt(at, CodeInvalidValue, "must be an integer")
	}
	p.r.Seed = true
}

func (p *parser) stop() {
	switch p.Peek() {
	case '"':
		p.Skip()
		p.r.Stop = true
	case '[':
		p.bounded(p.lim.Stops, "", func(*parser) {
			p.r.Stop = true
			p.typed('"', "must be a string")
		})
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue, "must be a string or an array of strings")
		p.Skip()
	}
}

// responseFormat is structured for every type but "text".
func (p *parser) responseFormat() {
	if p.Null() {
		return
	}
	at := p.i
	if !p.object("must be an object") {
		return
	}
	var kind text
	seen := false
	for name, ok := p.key(); ok; name, ok = p.key() {
		switch string(p.bytes(name)) {
		case "type":
			p.under("type")
			seen = true
			p.requiredString(&kind)
			p.up()
		case "json_schema", "schema", "structures", "triggers", "format", "grammar", "at_least_one", "stop_after_first":
			p.Skip()
		default:
			p.stranger(name)
		}
	}
	if !seen {
		p.refuseMissing(at, "type")
	}
	p.r.Structured = p.r.Structured || string(p.bytes(p.plain(kind))) != "text"
}

func (p *parser) modalities() {
	if p.Null() {
		return
	}
	beyond := -1
	p.entries("must be an array of strings", func(*parser) {
		at := p.i
		var t text
		if p.requiredString(&t) && string(p.bytes(p.plain(t))) != "text" {
			beyond = at
		}
	})
	if beyond >= 0 {
		p.refuseAt(beyond, CodeUnsupportedParameter, "beyond text is not supported")
	}
}

// completionLogprobs is a count, and 0 asks for the chosen token's.
func (p *parser) completionLogprobs() {
	if p.Null() {
		return
	}
	n := 0
	p.integer(0, maxInt, &n)
	p.r.Logprobs = true
}
