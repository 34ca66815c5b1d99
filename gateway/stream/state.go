package stream

import (
	"time"

	"octet/gateway/sse"
)

// Begun reports whether the head of the answer is out: from there on only an error event can tell of a failure.
func (r *Relay) Begun() bool { return r.begun }

// Closed says that the client was sent a whole answer of another kind: an error.
func (r *Relay) Closed() { r.begun = true }

// Delivered returns how many tokens the client has.
func (r *Relay) Delivered() int { return r.delivered }

// NewEngine says that an engine is asked from which the client has nothing yet.
func (r *Relay) NewEngine() { r.heard = false }

// Heard reports whether the client has something of the present engine's answer.
func (r *Relay) Heard() bool { return r.heard }

// Done reports whether the engine has come to the end of its stream.
func (r *Relay) Done() bool { return r.scanner.Done() }

// Usage returns what the answer took, of all engines that brought it; zero before its end.
func (r *Relay) Usage() sse.Usage { return r.usage }

// Finish returns why the answer ended, as its engine says.
func (r *Relay) Finish() string { return r.finish }

// Ended returns when an answer was over, since the arrival; 0 if it was not timed.
func (r *Relay) Ended() time.Duration { return r.ended }

// Unfinished reports whether an answer that has begun could go on with another token from its text.
func (r *Relay) Unfinished() bool {
	return r.Cont.Usable() && r.begun && !r.scanner.Done() && r.scanner.FinishReason() == "" && r.delivered != r.MaxTokens
}

// Resumable reports whether another engine could continue the answer: the text that the client has is all of it.
func (r *Relay) Resumable() bool {
	return r.Unfinished() && r.Cont.Holds(r.scanner.Events()) && r.Cont.Base()+r.scanner.Tokens() == r.delivered
}

// yields reports whether the Gate wants the place back and this is a moment to give it up: with a whole number of tokens
// out, and more to come. A stream is asked with each piece, so that waiting for the answer costs no goroutine.
func (r *Relay) yields() bool { return r.Unfinished() && r.Place.Yielding() }

// secure pins a stream that cannot be continued, at the latest when its first byte is about to go out. It returns false
// if the Gate has taken the place back before and the client has seen nothing of the answer: then it begins again.
func (r *Relay) secure() bool {
	if r.Expendable || r.Cont.Holds(r.scanner.Events()) && r.countKnown() {
		return true
	}
	r.Cont = r.Cont.Orphan()
	return r.Place.Pin() || r.begun
}

// countKnown reports whether the tokens so far are known as exactly as a continuation needs: an answer without
// max_tokens can do with a count of events.
func (r *Relay) countKnown() bool { return r.MaxTokens <= 0 || r.scanner.Told() }

// HandOver says that another engine is to continue the answer. prompt is the prompt's exact length in tokens, where that
// is known; 0 is unknown.
func (r *Relay) HandOver(prompt int) {
	if u, told := r.Told(); told {
		prompt = u.PromptTokens
	}
	r.Cont.HandOver(r.delivered, prompt)
}

// Told returns the usage of the present engine's stream, as far as it is believed, and whether it said any.
func (r *Relay) Told() (sse.Usage, bool) {
	u, ok := r.scanner.Usage()
	return r.extent().Believe(u), ok
}

func (r *Relay) extent() Extent { return ExtentOf(r.Context, r.MaxTokens, r.Answers, r.Prompts) }

// cached returns how many tokens of the prompt the engine says it had cached; below 0 if that says nothing of its own
// cache, as of a prompt that was handed over.
func (r *Relay) cached(u sse.Usage) int {
	if u.CachedKnown && r.Cont.Base() == 0 && !r.Handed {
		return u.CachedTokens
	}
	return -1
}
