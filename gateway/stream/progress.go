package stream

import (
	"time"

	"octet/gateway/sse"
)

// progress is how far an answer has come.
type progress struct {
	Terms
	Source
	Cont    *Continuation // nil if the answer cannot be continued
	scanner sse.Scanner

	begun     bool // the head is out
	heard     bool // the client has something of the present engine's answer
	delivered int  // tokens that the client has
	usage     sse.Usage
	finish    string
	ended     time.Duration // since the arrival; 0 means not timed
}

// Begun reports whether the head of the answer is out: from there on only an error event can tell of a failure.
func (p *progress) Begun() bool { return p.begun }

// Closed says that the client was sent a whole answer of another kind: an error.
func (p *progress) Closed() { p.begun = true }

// Delivered returns how many tokens the client has.
func (p *progress) Delivered() int { return p.delivered }

// NewEngine says that an engine is asked from which the client has nothing yet.
func (p *progress) NewEngine() { p.heard = false }

// Heard reports whether the client has something of the present engine's answer.
func (p *progress) Heard() bool { return p.heard }

// Done reports whether the engine has come to the end of its stream.
func (p *progress) Done() bool { return p.scanner.Done() }

// Usage returns what the answer took, of all engines that brought it, as far as they said so. Before the end, and of an
// answer that broke, it is what the client has had of it.
func (p *progress) Usage() sse.Usage {
	if p.usage != (sse.Usage{}) {
		return p.usage
	}
	u, told := p.scanner.Usage()
	if !told {
		return p.Cont.first()
	}
	u = p.extent().Believe(p.Cont.Usage(u))
	u.CompletionTokens = p.delivered
	return u
}

// Finish returns why the answer ended, as its engine says.
func (p *progress) Finish() string { return p.finish }

// Ended returns when an answer was over, since the arrival; 0 if it was not timed.
func (p *progress) Ended() time.Duration { return p.ended }

// Unfinished reports whether an answer that has begun could go on with another token from its text.
func (p *progress) Unfinished() bool {
	return p.Cont.Usable() && p.begun && !p.scanner.Done() && p.scanner.FinishReason() == "" &&
		p.delivered != p.MaxTokens
}

// Resumable reports whether another engine could continue the answer: the text that the client has is all of it.
func (p *progress) Resumable() bool {
	return p.Unfinished() && p.Cont.Holds(p.scanner.Events()) && p.Cont.Base()+p.scanner.Tokens() == p.delivered
}

// yields reports whether the Gate wants the place back and this is a moment to give it up: with a whole number of
// tokens out, and more to come. A stream is asked with each piece, so that waiting for the answer costs no goroutine.
func (p *progress) yields() bool { return p.Unfinished() && p.Place.Yielding() }

// secure pins a stream that cannot be continued, or that only a death is a reason to try it with, at the latest when
// its first byte is about to go out. It returns false if the Gate has taken the place back before and the client has
// seen nothing of the answer: then it begins again.
func (p *progress) secure() bool {
	continuable := p.Cont.Holds(p.scanner.Events()) && p.countKnown()
	if p.Expendable || continuable && !p.venturesome() {
		return true
	}
	if !continuable {
		p.Cont = p.Cont.Orphan()
	}
	return p.Place.Pin() || p.begun
}

// countKnown reports whether the tokens so far are known as exactly as a continuation needs: an answer without
// max_tokens can do with a count of events, and one whose engine speaks the door's words with a bound that leaves most
// of max_tokens.
func (p *progress) countKnown() bool {
	return p.MaxTokens <= 0 || p.scanner.Told() || p.Native != nil && 2*p.Cont.mostTokens() <= p.MaxTokens
}

// HandOver says that another engine is to continue the answer. prompt is the prompt's exact length in tokens, where
// that is known; 0 is unknown.
func (p *progress) HandOver(prompt int) {
	if u, told := p.Told(); told {
		prompt = u.PromptTokens
	}
	if p.Native != nil {
		p.Cont.spent = p.Cont.mostTokens()
		p.Native.Adopt()
		p.Native = nil
	}
	p.Cont.HandOver(p.delivered, prompt)
}

// Told returns the usage of the present engine's stream, as far as it is believed, and whether it said any.
func (p *progress) Told() (sse.Usage, bool) {
	u, ok := p.scanner.Usage()
	return p.extent().Believe(u), ok
}

func (p *progress) extent() Extent { return ExtentOf(p.Context, p.MaxTokens, p.Answers, p.Prompts) }
