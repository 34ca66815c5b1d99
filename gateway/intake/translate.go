package intake

import (
	"errors"
	"slices"

	"octet/gateway/wire"
)

// parseSent parses what the client sent, in the words of its door.
func (q *Request) parseSent(kind wire.Kind) error {
	if q.Door == nil {
		return q.Parse(kind)
	}
	return q.translate(kind)
}

// translate makes the body of the request's door one of that kind, and parses it. What is refused of it is named by its
// place in what the client sent.
func (q *Request) translate(kind wire.Kind) error {
	room := slices.Grow(q.inlined[:0], len(q.Bytes))
	chat, err := q.Door.Chat(room, q.Bytes, BodyLimits(q.limits).Depth)
	if err != nil {
		return err
	}
	q.inlined, q.Bytes, q.Answer, q.sent = chat.Body, chat.Body, chat.Answer, chat.Sent
	if int64(len(q.Bytes)) > q.limits.BodyBytes {
		return tooLarge(q.limits.BodyBytes)
	}
	if err := q.memory.take(q.Body, len(q.Bytes)+q.sent.Bytes(), q.limits.QueueBytes); err != nil {
		return err
	}
	if err := q.Parse(kind); err != nil {
		return q.inItsWords(err)
	}
	return nil
}

// inItsWords has err name its place in what the client sent.
func (q *Request) inItsWords(err error) error {
	var bad *wire.Error
	if errors.As(err, &bad) {
		bad.Param = q.Door.Param(q.sent.Text, bad.Param)
	}
	return err
}

// AnswersTool returns true if the request's last message, or the last turn in the words of its door, holds what tools
// returned: the model goes on with what it has begun.
func (q *Request) AnswersTool() bool {
	turns, ok := q.Answer.(interface{ AnswersTool() bool })
	return ok && turns.AnswersTool() || q.Parsed.AnswersTool()
}

// Sent returns the body in the words of the door that the client came by; nil without a door, and after Release.
func (q *Request) Sent() *wire.Outline {
	if q.sent.Text == nil {
		return nil
	}
	return &q.sent
}

// CountedPrompt tells the door how long the prompt is, in tokens.
func (q *Request) CountedPrompt(tokens int) {
	if counts, ok := q.Answer.(interface{ CountedPrompt(tokens int) }); ok {
		counts.CountedPrompt(tokens)
	}
}

// FirstImage returns the place of the first image in what the client sent; "" without images.
func (q *Request) FirstImage() string {
	path := q.Parsed.FirstImage()
	if path == "" || q.sent.Text == nil {
		return path
	}
	return q.Door.Param(q.sent.Text, path)
}
