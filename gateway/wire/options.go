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
		if plain := p.bytes(name); !isStreamOption(plain) {
			p.refuseCase(plain, isStreamOption)
			p.Skip()
			continue
		}
		option, into := "include_usage", &p.r.StreamOptions.IncludeUsage
		if string(p.bytes(name)) != option {
			option, into = "continuous_usage_stats", &p.r.StreamOptions.ContinuousUsage
		}
		p.under(option)
		p.boolean(into)
		p.up()
	}
}

func isStreamOption(name []byte) bool {
	return string(name) == "include_usage" || string(name) == "continuous_usage_stats"
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
		p.Enter('[')
		for i := 0; p.More(); i++ {
			p.r.Stop = true
			p.index(i)
			p.typed('"', "must be a string")
			p.up()
		}
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
		if string(p.bytes(name)) != "type" {
			p.Skip()
			continue
		}
		p.under("type")
		seen = true
		p.requiredString(&kind)
		p.up()
	}
	if !seen {
		p.refuseMissing(at, "type")
	}
	p.r.Structured = p.r.Structured || string(p.bytes(p.plain(kind))) != "text"
}

func (p *parser) tools() {
	if p.Null() {
		return
	}
	if p.Peek() != '[' {
		p.refuse(CodeInvalidValue, "must be an array of objects")
		p.Skip()
		return
	}
	p.Enter('[')
	for i := 0; p.More(); i++ {
		p.r.Tools = true
		p.index(i)
		p.typed('{', "must be an object")
		p.up()
	}
}

func (p *parser) toolChoice() {
	switch p.Peek() {
	case '{':
		p.Skip()
		p.r.ToolChoice = true
	case '"':
		var t text
		p.string(&t)
		p.r.ToolChoice = p.r.ToolChoice || string(p.bytes(p.plain(t))) != "none"
	case 'n':
		p.Null()
	default:
		p.refuse(CodeInvalidValue, "must be a string or an object")
		p.Skip()
	}
}

func (p *parser) modalities() {
	if p.Null() {
		return
	}
	if p.Peek() != '[' {
		p.refuse(CodeInvalidValue, "must be an array of strings")
		p.Skip()
		return
	}
	p.Enter('[')
	for i := 0; p.More(); i++ {
		at := p.i
		p.index(i)
		var t text
		p.requiredString(&t)
		p.up()
		if string(p.bytes(p.plain(t))) != "text" {
			p.refuseAt(at, CodeUnsupportedParameter, "beyond text is not supported")
		}
	}
}

func (p *parser) store() {
	var store bool
	at := p.i
	if p.boolean(&store); store {
		p.refuseAt(at, CodeUnsupportedParameter, "is not supported")
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
