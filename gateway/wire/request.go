package wire

// Kind is the API a body was sent to.
type Kind uint8

// The APIs that take a body.
const (
	Chat       Kind = iota // /v1/chat/completions
	Completion             // /v1/completions
)

// String returns chat | completion.
func (k Kind) String() string {
	if k == Completion {
		return "completion"
	}
	return "chat"
}

// Path returns where a body of the kind is sent, by clients to the gateway and by the gateway to engines.
func (k Kind) Path() string {
	if k == Completion {
		return "/v1/completions"
	}
	return "/v1/chat/completions"
}

// Limits bound what a body may hold; a zero field stands for its default.
type Limits struct {
	Depth    int // nested containers, the body itself being one; default 64
	Messages int // messages, and entries of each octet extra; default 4096
	Prompts  int // prompts of one completion; default 1024
	Choices  int // answers to one prompt, and best_of; default 128
	Entries  int // entries of any other list or object that is a parameter; default 4096
	Stops    int // stop strings; default 64
	Bytes    int // of a parameter that is neither messages, nor prompts, nor tools; default 1 MiB

	Members *Vocabulary // nil: what Parse does not read is passed over
}

// Judged are the Limits for a body that was judged before.
var Judged = Limits{Messages: maxInt, Prompts: maxInt, Choices: maxInt, Entries: maxInt, Stops: maxInt, Bytes: maxInt}

// orDefaults is l with the defaults in place of zeros.
func (l Limits) orDefaults() Limits {
	l.Depth, l.Messages, l.Prompts = or(l.Depth, 64), or(l.Messages, 4096), or(l.Prompts, 1024)
	l.Choices, l.Entries, l.Stops, l.Bytes = or(l.Choices, 128), or(l.Entries, 4096), or(l.Stops, 64),
		or(l.Bytes, 1<<20)
	return l
}

func or(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Policy is how the next token is chosen.
type Policy uint8

// The ways to choose the next token.
const (
	PolicyTemperature Policy = iota // sampled, at the engine's default temperature when none is given
	PolicyGreedy                    // temperature 0, or top_p 0
	PolicyTypical                   // typical_p given
)

func (p Policy) String() string { return [...]string{"temperature", "greedy", "typical"}[p] }

// Number is a parameter that may be absent.
type Number struct {
	Value float64
	Set   bool
}

// Params is what a body asks for beside its text.
type Params struct {
	Kind      Kind
	Model     string // "" when missing, null or empty
	Stream    bool
	MaxTokens int // max_completion_tokens, else max_tokens, else -1
	N         int // 1 unless given
	BestOf    int // 1 unless given

	StreamOptions struct {
		IncludeUsage    bool
		ContinuousUsage bool // with IncludeUsage: in every event
	}

	Temperature, TopP, TypicalP Number

	Tools      bool // tools or functions, not empty
	ToolChoice bool // a tool_choice or function_call other than "none"
	MustCall   bool // one that leaves no other answer than a call
	Structured bool // the output is bound to a grammar or schema
	Logprobs   bool
	Echo       bool
	Beam       bool // use_beam_search
	Stop       bool // a stop string or several
	Seed       bool

	maxTokens, maxCompletionTokens int  // as given; -1 unset
	minTokens                      int  // 0 unless given
	endless                        bool // ignore_eos
}

// Request is one parsed body. It is made to be reused: Parse forgets what was there before. Not safe for concurrent
// use, the reading methods included: they unescape on demand.
type Request struct {
	Params

	messages []message
	parts    []text  // of messages whose content is an array
	images   []image // in their order
	prompts  []prompt
	suffix   text // of a completion; zero without one
	extras   extras
	tools    tools
	listed   []listedTool // those of tools
	calls    []call       // in the order of the messages
	members  []member
	opening  int    // index of the body's '{'
	takers   uint32 // engines that take every member that is known
	unknown  string // path of the first member that is not; empty if all are
	pieces   []byte // small pieces made by Splice
	p        parser
	worded   []byte // what Wording has copied
}

// message is one chat message. Its text is text, or the parts joined with a newline.
type message struct {
	text     text
	plain    text   // the same once it was asked for
	from, to uint32 // parts[from:to]; equal when text stands for itself
	role     uint8  // index into roles
}

// prompt is a text, or when tokens > 0 the place of an array of token ids.
type prompt struct {
	text   text
	plain  text // the same once it was asked for
	tokens uint32
}

// member is a top-level member: its name and where its value is.
type member struct {
	name     text
	off, end uint32
}

// Policy tells the decoding policy that the body asks for.
func (r *Request) Policy() Policy {
	switch {
	case r.Temperature.Set && r.Temperature.Value == 0, r.TopP.Set && r.TopP.Value == 0:
		return PolicyGreedy
	case r.TypicalP.Set:
		return PolicyTypical
	}
	return PolicyTemperature
}

// Continuable reports whether an answer cut off after some tokens can be taken up by another replica from what it said:
// one plain choice, with nothing told beside it. Structured and MustCall bind its text, see stream.Continuable.
func (r *Request) Continuable() bool {
	several := r.N > 1 || r.BestOf > 1 || r.Beam || len(r.prompts) > 1
	return !several && r.suffix == (text{}) && !r.Logprobs && !r.Echo
}

// CountsDiffer reports whether max_tokens and max_completion_tokens are both given, and say different numbers.
func (r *Request) CountsDiffer() bool {
	return r.maxTokens >= 0 && r.maxCompletionTokens >= 0 && r.maxTokens != r.maxCompletionTokens
}

// Raw returns the value of a top-level member as it stands in the body, or nil.
func (r *Request) Raw(name string) []byte {
	if m := r.member(name); m != nil {
		return r.p.b[m.off:m.end:m.end]
	}
	return nil
}

func (r *Request) member(name string) *member {
	for i := range r.members {
		m := &r.members[i]
		if int(m.name.end-m.name.off) == len(name) && string(r.p.bytes(m.name)) == name {
			return m
		}
	}
	return nil
}

// Reset lets go of the body and of buffers that an unusual one has swollen.
func (r *Request) Reset() {
	r.p.reset()
	r.takers, r.unknown = everyTaker, ""
	r.Params = Params{MaxTokens: -1, N: 1, BestOf: 1, maxTokens: -1, maxCompletionTokens: -1}
	r.messages, r.parts, r.prompts = kept(r.messages), kept(r.parts), kept(r.prompts)
	r.suffix, r.images = text{}, kept(r.images)
	r.extras.reset()
	clear(r.listed)
	r.tools, r.listed, r.calls = tools{}, kept(r.listed), kept(r.calls)
	r.members, r.pieces = kept(r.members), kept(r.pieces)
	if r.worded = r.worded[:0]; cap(r.worded) > keepArena {
		r.worded = nil
	}
}

// Buffers kept from one request to the next.
const (
	keepItems = 1024
	keepArena = 256 << 10 // bytes
)

func kept[T any](s []T) []T {
	if cap(s) > keepItems {
		return nil
	}
	return s[:0]
}
