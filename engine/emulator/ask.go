package emulator

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"

	"octet/engine/emulator/tiny"
	"octet/scheduler/core"
)

const (
	maxChoices   = 128 // of one request, over all its prompts
	maxRequestID = 128 // bytes

	// endlessMaxNew is the tokens of an answer that need not end by itself, when the request sets no limit.
	endlessMaxNew = 128
)

// ask is one inference request, checked and in the engine's terms, by whichever route it came.
type ask struct {
	id      string // the client's X-Request-Id, or one of ours
	chat    bool
	model   string // as asked for: the base model or an adapter
	adapter lora   // the zero lora is the base model
	prompts []prompt
	n       int   // choices a prompt
	maxNew  []int // tokens to generate at most, a prompt each
	body    *body
	use     *toolUse // of tools and formats; nil but in TextTools

	hint                    cacheHint // what the gateway believes to be cached of the prompt
	prefiller, path, bearer string    // the engine that computes the prompt, and how it is asked; optional
	raw                     []byte    // the body as it came; only with a prefiller
	local                   net.Addr  // where it came in
	// the prompts as another engine computed them; nil without, and nil snapshots where nothing is computed
	received []*tiny.Snapshot
}

// readAsk decodes and checks a request to /v1/chat/completions (chat) or /v1/completions.
func (e *Emulator) readAsk(r *http.Request, chat bool) (*ask, error) {
	a := &ask{id: e.requestID(r), chat: chat, n: 1, body: new(body)}
	a.local, _ = r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if err := a.readBody(r); err != nil {
		return nil, err
	}
	if err := a.body.refuse(); err != nil {
		return nil, err
	}
	if chat && e.cfg.Text == TextTools {
		var err error
		if a.use, err = a.body.readToolUse(); err != nil {
			return nil, err
		}
	}
	a.hint = readHint(r.Header.Get(hintField))
	a.model = a.body.Model
	or(&a.model, e.cfg.Model)
	var known bool
	if a.adapter, known = e.loras.find(a.model); !known {
		return nil, notFound("model", "The model `%s` does not exist.", a.model)
	}
	return a, e.fill(a)
}

// readBody reads the body into a, and keeps what another engine has to be sent.
func (a *ask) readBody(r *http.Request) error {
	if a.prefiller = r.Header.Get(prefillerField); a.prefiller == "" {
		return readBody(r, a.body)
	}
	a.path, a.bearer = r.URL.Path, r.Header.Get("Authorization")
	var err error
	if a.raw, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody)); err != nil {
		return badRequest("", "reading the body: %v", err)
	}
	return decodeBody(bytes.NewReader(a.raw), a.body)
}

// refuse returns the first thing in b that this engine cannot honour.
func (b *body) refuse() error {
	switch k := b.Logprobs.Kind(); {
	case k == 't', k == '0':
		return badRequest("logprobs", "logprobs are not supported by this model.")
	case b.Echo:
		return badRequest("echo", "echo is not supported by this model.")
	case b.Suffix != "":
		return badRequest("suffix", "suffix is not supported by this model.")
	case b.ContinueFrom < 0:
		return badRequest("continue_from", "continue_from must not be negative, got %d.", b.ContinueFrom)
	case b.ContinueFinalMessage && (b.AddGenerationPrompt == nil || *b.AddGenerationPrompt):
		return badRequest("continue_final_message",
			"Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
	case b.Temperature != nil && *b.Temperature < 0:
		return badRequest("temperature", "temperature must be non-negative, got %v.", *b.Temperature)
	case b.TopP != nil && (*b.TopP <= 0 || *b.TopP > 1):
		return badRequest("top_p", "top_p must be in (0, 1], got %v.", *b.TopP)
	}
	return b.refuseStops()
}

// refuseStops returns what is wrong with b's stop strings.
func (b *body) refuseStops() error {
	if len(b.Stop) > 16 {
		return badRequest("stop", "at most 16 stop strings, got %d.", len(b.Stop))
	}
	for _, w := range b.Stop {
		if w == "" {
			return badRequest("stop", "stop cannot contain an empty string.")
		}
	}
	return nil
}

// fill sets the parts of a that follow from its body.
func (e *Emulator) fill(a *ask) (err error) {
	if a.chat {
		a.prompts, err = a.body.chatPrompt(e.codec)
	} else {
		a.prompts, err = prompts(e.codec, a.body.Prompt)
	}
	if err != nil {
		return err
	}
	if a.body.N != nil {
		a.n = *a.body.N
	}
	if a.n < 1 || a.n*len(a.prompts) > maxChoices {
		return badRequest("n", "n must be at least 1, and at most %d choices in all, got %d for %d prompts.",
			maxChoices, a.n, len(a.prompts))
	}
	for _, p := range a.prompts {
		limit, err := e.answerLimit(a, len(p.tokens))
		if err != nil {
			return err
		}
		a.maxNew = append(a.maxNew, limit)
	}
	return e.checkRoom(a)
}

// chatPrompt returns the one prompt that the messages of b make.
func (b *body) chatPrompt(t codec) ([]prompt, error) {
	if len(b.Messages) == 0 {
		return nil, badRequest("messages", "messages must hold at least one message.")
	}
	for _, m := range b.Messages {
		if m.Role == "" {
			return nil, badRequest("messages", "every message needs a role.")
		}
	}
	text, err := t.chat(b)
	if err != nil {
		return nil, err
	}
	return []prompt{{text, t.tokens(text, false)}}, nil
}

// answerLimit returns how many tokens may follow a prompt of so many tokens.
func (e *Emulator) answerLimit(a *ask, prompt int) (int, error) {
	asked := a.body.MaxTokens
	if a.chat && a.body.MaxCompletionTokens != nil {
		asked = a.body.MaxCompletionTokens
	}
	room := e.cfg.MaxModelLen - prompt
	switch {
	case prompt == 0:
		return 0, badRequest("prompt", "The decoder prompt cannot be empty")
	case a.body.ContinueFrom >= prompt && a.body.ContinueFrom > 0:
		return 0, badRequest("continue_from", "continue_from is %d, but the prompt has %d tokens.", a.body.ContinueFrom,
			prompt)
	case room < 1:
		return 0, badRequest("prompt",
			"This model's maximum context length is %d tokens. However, your request has %d input tokens. Please "+
				"reduce the length of the input messages.", e.cfg.MaxModelLen, prompt)
	case asked == nil && !e.cfg.prose():
		return min(room, endlessMaxNew), nil
	case asked == nil:
		return room, nil
	case *asked < 1:
		return 0, badRequest("max_tokens", "max_tokens must be at least 1, got %d.", *asked)
	case *asked > room:
		return 0, badRequest("max_tokens",
			"'max_tokens' or 'max_completion_tokens' is too large: %d. This model's maximum context length is %d "+
				"tokens and your request has %d input tokens (%d > %d - %d).",
			*asked, e.cfg.MaxModelLen, prompt, *asked, e.cfg.MaxModelLen, prompt)
	}
	return *asked, nil
}

// requestID returns the client's X-Request-Id when it is printable and short enough to stand in every token, else a new
// one.
func (e *Emulator) requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	wellFormed := id != "" && len(id) <= maxRequestID
	for i := range len(id) {
		wellFormed = wellFormed && id[i] > ' ' && id[i] < 0x7f
	}
	if wellFormed {
		return id
	}
	return "r" + strconv.FormatUint(e.cfg.Epoch, 36) + "-" + strconv.FormatUint(e.requests.Add(1), 10)
}

// answerID returns what the answer is called on the wire.
func (a *ask) answerID() string {
	if a.chat {
		return "chatcmpl-" + a.id
	}
	return "cmpl-" + a.id
}

// speak returns the script of one choice; nil if the engine's model has none.
func (e *Emulator) speak(a *ask, p prompt, choice int) script {
	switch from := a.body.ContinueFrom; e.cfg.Text {
	case TextTiny:
		return nil
	case TextIndex:
		return indexScript{request: a.id, from: spoken(p.text, a.id, from)}
	case TextTools:
		return e.compose(a, p, choice)
	default:
		return e.writer.answer(e.codec, p.earlier(e.codec, from), a.variant(choice%a.n), from)
	}
}

// variant tells answers to one prompt apart: by the client's seed, and by choice.
func (a *ask) variant(choice int) uint64 {
	variant := uint64(choice)
	if a.body.Seed != nil {
		variant += uint64(*a.body.Seed) * 1_000_003
	}
	return variant
}

// policy returns how a choice's tokens are sampled, where the model computes them. A request that states no temperature
// is answered greedily.
func (a *ask) policy(choice int) (p core.Policy) {
	b := a.body
	if b.Temperature != nil {
		p.Temperature = *b.Temperature
	}
	if b.TopP != nil {
		p.TopP = *b.TopP
	}
	p.Seed = a.variant(choice)
	return p
}

// overrun has every choice go on for k tokens more than was asked for.
func (a *ask) overrun(k int) {
	for i := range a.maxNew {
		a.maxNew[i] += k
	}
}
