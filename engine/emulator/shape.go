package emulator

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// usage is what an answer took, as clients are told.
type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	TotalTokens      int `json:"total_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// shape writes the answer of one request in the form of its route. Chunks are put together by hand: one is written for
// every token, and all but the text is the same each time.
type shape struct {
	ask   *ask
	chat  bool
	usage bool   // the client asked for a usage chunk; the others then carry "usage":null
	runs  bool   // and for the usage so far in every other chunk
	ids   bool   // it asked for token ids
	head  []byte // of every chunk, up to and including `"choices":[`
	buf   []byte // the chunks at hand; reused
}

func newShape(a *ask, created int64) *shape {
	s := &shape{ask: a, chat: a.chat, usage: a.body.StreamOptions.IncludeUsage, ids: a.body.ReturnTokenIDs}
	s.runs = s.usage && a.body.StreamOptions.ContinuousUsage
	object := "text_completion"
	if a.chat {
		object = "chat.completion.chunk"
	}
	s.head = append(s.head, `data: {"id":`...)
	s.head = quoted(s.head, a.answerID())
	s.head = append(append(append(s.head, `,"object":"`...), object...), `","created":`...)
	s.head = strconv.AppendInt(s.head, created, 10)
	s.head = append(s.head, `,"model":`...)
	s.head = quoted(s.head, a.model)
	s.head = append(s.head, `,"choices":[`...)
	return s
}

// opening returns the chunk that opens a choice of a chat: its role, and no text.
func (s *shape) opening(c *choice) []byte {
	s.buf = s.buf[:0]
	s.open(c.index)
	s.buf = append(s.buf, `"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	if s.ids {
		s.buf = appendIDs(append(s.buf, `,"prompt_token_ids":`...), s.ask.prompts[c.prompt].tokens)
	}
	s.closed(c, 0)
	return s.buf
}

// event returns the chunk that brings d of a choice.
func (s *shape) event(c *choice, d delta) []byte {
	s.buf = s.buf[:0]
	s.open(c.index)
	if s.chat {
		s.delta(c, d)
	} else {
		s.buf = quoted(append(s.buf, `"text":`...), d.text)
	}
	s.buf = append(s.buf, `,"logprobs":null,"finish_reason":`...)
	if d.finish == "" {
		s.buf = append(s.buf, `null`...)
	} else {
		s.buf = append(append(append(s.buf, '"'), d.finish...), '"')
	}
	if !s.chat {
		var prompt []uint32
		if d.tokens == len(d.ids) {
			prompt = s.ask.prompts[c.prompt].tokens
		}
		s.list(`,"prompt_token_ids":`, prompt)
	}
	s.list(`,"token_ids":`, d.ids)
	s.buf = append(s.buf, `}]`...)
	s.closed(c, d.tokens)
	return s.buf
}

// delta adds what a chat's chunk brings: a call's first with its id and name, the others with arguments alone.
func (s *shape) delta(c *choice, d delta) {
	s.buf = append(s.buf, `"delta":{`...)
	switch d.part {
	case partText:
		s.buf = quoted(append(s.buf, `"content":`...), d.text)
	case partReasoning:
		s.buf = quoted(append(s.buf, `"reasoning_content":`...), d.text)
	case partName:
		s.toolCall(d.call)
		s.buf = quoted(append(s.buf, `"id":`...), c.callID(d.call))
		s.buf = append(append(s.buf, `,"type":"function","function":{"name":`...), d.text...)
		s.buf = append(s.buf, `,"arguments":""}}]`...)
	case partArguments:
		s.toolCall(d.call)
		s.buf = quoted(append(s.buf, `"function":{"arguments":`...), d.text)
		s.buf = append(s.buf, `}}]`...)
	case partUnseen:
	}
	s.buf = append(s.buf, '}')
}

func (s *shape) toolCall(call int) {
	s.buf = strconv.AppendInt(append(s.buf, `"tool_calls":[{"index":`...), int64(call), 10)
	s.buf = append(s.buf, ',')
}

// list adds a member with token ids; null where there are none or they were not asked for.
func (s *shape) list(member string, ids []uint32) {
	if s.buf = append(s.buf, member...); s.ids && len(ids) > 0 {
		s.buf = appendIDs(s.buf, ids)
		return
	}
	s.buf = append(s.buf, `null`...)
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(id), 10)
	}
	return append(dst, ']')
}

// totals returns the usage chunk, which has no choices.
func (s *shape) totals(u usage) []byte {
	s.buf = append(append(s.buf[:0], s.head...), `],"usage":`...)
	return append(append(s.buf, mustJSON(u)...), "}\n\n"...)
}

// open begins a chunk of one choice.
func (s *shape) open(index int) {
	s.buf = append(append(s.buf, s.head...), `{"index":`...)
	s.buf = append(strconv.AppendInt(s.buf, int64(index), 10), ',')
}

// closed ends a chunk of c, which has brought so many tokens.
func (s *shape) closed(c *choice, tokens int) {
	switch {
	case s.runs:
		prompt := len(s.ask.prompts[c.prompt].tokens)
		s.buf = strconv.AppendInt(append(s.buf, `,"usage":{"prompt_tokens":`...), int64(prompt), 10)
		s.buf = strconv.AppendInt(append(s.buf, `,"total_tokens":`...), int64(prompt+tokens), 10)
		s.buf = strconv.AppendInt(append(s.buf, `,"completion_tokens":`...), int64(tokens), 10)
		s.buf = append(s.buf, '}')
	case s.usage:
		s.buf = append(s.buf, `,"usage":null`...)
	}
	s.buf = append(s.buf, "}\n\n"...)
}

// quoted appends text as a JSON string; bytes that are not UTF-8 become U+FFFD.
func quoted[T ~string | ~[]byte](dst []byte, text T) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // its error tells of the replacement only
	return dst
}

// whole is an answer that is not streamed.
type whole struct {
	ID       string         `json:"id"`
	Object   string         `json:"object"`
	Created  int64          `json:"created"`
	Model    string         `json:"model"`
	Choices  []wholeChoice  `json:"choices"`
	Usage    usage          `json:"usage"`
	Prompt   []uint32       `json:"prompt_token_ids,omitzero"` // of a chat
	Transfer *transferReply `json:"kv_transfer_params,omitzero"`
}

// wholeChoice is one choice: a message of a chat, or the text of a completion.
type wholeChoice struct {
	Index    int            `json:"index"`
	Message  *message       `json:"message,omitzero"`
	Text     *string        `json:"text,omitzero"`
	Logprobs jsontext.Value `json:"logprobs"`
	Finish   string         `json:"finish_reason"`
	IDs      []uint32       `json:"token_ids,omitzero"`
	Prompt   []uint32       `json:"prompt_token_ids,omitzero"` // of a completion
}

type message struct {
	Role      string      `json:"role"`
	Content   *string     `json:"content"` // null if the answer is calls alone
	Refusal   *string     `json:"refusal"`
	Reasoning string      `json:"reasoning_content,omitzero"`
	Calls     []wholeCall `json:"tool_calls,omitzero"`
}

// wholeCall is a call of a function.
type wholeCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      jsontext.Value `json:"name"`
		Arguments string         `json:"arguments"`
	} `json:"function"`
}

// told is what the tokens of one choice are, put together.
type told struct {
	text, reasoning []byte
	calls           []wholeCall
}

func (w *told) add(t token) {
	switch t.part {
	case partText:
		w.text = append(w.text, t.text...)
	case partReasoning:
		w.reasoning = append(w.reasoning, t.text...)
	case partName:
		call := wholeCall{ID: t.choice.callID(t.call), Type: "function"}
		call.Function.Name = append(call.Function.Name, t.text...)
		w.calls = append(w.calls, call)
	case partArguments:
		w.calls[len(w.calls)-1].Function.Arguments += string(t.text)
	case partUnseen:
	}
}

// message returns the whole as a chat's.
func (w *told) message() *message {
	m := &message{Role: "assistant", Reasoning: string(w.reasoning), Calls: w.calls}
	if text := string(w.text); text != "" || len(w.calls) == 0 {
		m.Content = &text
	}
	return m
}
