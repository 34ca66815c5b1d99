package emulator

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"octet/engine"
	"octet/engine/bpe"
	"octet/engine/chattemplate"
)

// codec is how an engine's texts become tokens.
type codec interface {
	// chat returns the prompt text that b's messages make.
	chat(b *body) ([]byte, error)
	// tokens returns the ids of a text; around says that it is a whole prompt, and no rendered chat.
	tokens(text []byte, around bool) []uint32
	// pieces cuts a text into the pieces of its tokens, which put together are the text.
	pieces(text []byte) (pieces [][]byte, ids []uint32)
	// spelling returns the text of a list of ids; false where there is no way back.
	spelling(ids []uint32) (string, bool)
}

// newCodec returns the one that c asks for.
func newCodec(c Config) (codec, error) {
	if c.Tokenizer == "" {
		return builtinCodec{}, nil
	}
	t, err := bpe.Load(c.Tokenizer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	l, err := chattemplate.Load(c.Tokenizer, c.ChatTemplate)
	if err == nil && l.Plain {
		t, err = t.Plain()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return fileCodec{t, l.Template}, nil
}

// builtinCodec is the emulators' own tokenizer and template.
type builtinCodec struct{}

func (builtinCodec) chat(b *body) ([]byte, error) {
	messages, ending := b.chat()
	return engine.RenderChat(nil, messages, ending), nil
}

func (builtinCodec) tokens(text []byte, _ bool) []uint32 { return engine.Tokenize([]uint32{}, text) }

func (builtinCodec) pieces(text []byte) (pieces [][]byte, ids []uint32) {
	for len(text) > 0 {
		n := engine.Piece(text)
		pieces, ids = append(pieces, text[:n]), append(ids, engine.TokenID(text[:n]))
		text = text[n:]
	}
	return pieces, ids
}

// spelling fails: a token id is a hash of its text, and a hash has no way back.
func (builtinCodec) spelling([]uint32) (string, bool) { return "", false }

// fileCodec is a model's tokenizer and template.
type fileCodec struct {
	tokenizer *bpe.Tokenizer
	template  *chattemplate.Template
}

func (l fileCodec) chat(b *body) ([]byte, error) {
	if b.ContinueFinalMessage {
		return nil, badRequest("continue_final_message", "this model's template does not continue a message.")
	}
	messages := []byte{'['}
	for i, m := range b.Messages {
		if i > 0 {
			messages = append(messages, ',')
		}
		messages = append(messages, m.raw...)
	}
	text, err := l.template.Render(nil, chattemplate.Chat{
		Messages: append(messages, ']'), Tools: orNil(b.Tools), Form: asVLLM(), Extra: orNil(b.TemplateArgs),
		Open: b.AddGenerationPrompt == nil || *b.AddGenerationPrompt, Now: time.Now(),
	})
	if errors.Is(err, chattemplate.ErrRefused) || errors.Is(err, chattemplate.ErrTooLarge) {
		return nil, badRequest("messages", "%v", err)
	}
	return text, err
}

// orNil is nil for a member that is missing or null.
func orNil(raw []byte) []byte {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}

func (l fileCodec) tokens(text []byte, around bool) []uint32 {
	before, behind := l.tokenizer.Around()
	if !around {
		before, behind = nil, nil
	}
	ids := append([]uint32{}, before...)
	return append(l.tokenizer.Encode(ids, text, bpe.Start), behind...)
}

func (l fileCodec) pieces(text []byte) (pieces [][]byte, ids []uint32) {
	ids = l.tokenizer.Encode(nil, text, bpe.Start)
	for _, id := range ids {
		s, _ := l.tokenizer.Spelling(id)
		pieces = append(pieces, []byte(s))
	}
	return pieces, ids
}

func (l fileCodec) spelling(ids []uint32) (string, bool) {
	var out []byte
	for _, id := range ids {
		s, ok := l.tokenizer.Spelling(id)
		if !ok {
			return "", false
		}
		out = append(out, s...)
	}
	return string(out), true
}
