package emulator

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const slowness = 10 // steps between two tokens under Slow

// chat and complete are the two inference routes.
func (h handlers) chat(w http.ResponseWriter, r *http.Request)     { h.infer(w, r, true) }
func (h handlers) complete(w http.ResponseWriter, r *http.Request) { h.infer(w, r, false) }

func (h handlers) infer(w http.ResponseWriter, r *http.Request, chat bool) {
	a, err := h.readAsk(r, chat)
	if err == nil {
		err = h.sleeper.await(r.Context())
	}
	if asleep := h.sleeper.refusal(); err == nil {
		err = asleep
	}
	if err != nil {
		writeProblem(w, err)
		return
	}
	w.Header().Set("X-Request-Id", a.id)
	alive, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	x := &wire{
		w: w, ctl: http.NewResponseController(w), ctx: alive, streamed: a.body.Stream,
		fault: h.armed.take(), slow: slowness * max(h.cfg.Step, time.Millisecond),
	}
	if x.fault.Kind == Overrun {
		a.overrun(x.fault.K)
	}
	err = h.answer(r.Context(), x, a)
	if err != nil && !errors.Is(err, errStruck) && r.Context().Err() == nil {
		_ = x.fail(err) // the last word, whatever becomes of it
	}
}

// answer serves a to the end. The blocks of what has not ended are free when it returns.
func (e *Emulator) answer(ctx context.Context, x *wire, a *ask) error {
	if err := x.accept(); err != nil {
		return err
	}
	e.metrics.hint(a.hint)
	if err := e.obtain(ctx, a); err != nil {
		return err
	}
	an, err := e.start(ctx, a)
	if err != nil {
		return err
	}
	defer an.close()
	if err := x.begin(); err != nil {
		return err
	}
	if a.body.Stream {
		return an.streamed(ctx, x)
	}
	return an.whole(ctx, x)
}

// streamed writes the tokens as chunks, as soon as an event of them is due.
func (an *answer) streamed(ctx context.Context, x *wire) error {
	s := newShape(an.ask, time.Now().Unix())
	interval := max(an.e.cfg.StreamInterval, an.ask.body.StreamInterval)
	err := an.each(ctx, func(t token) error {
		if err := x.pass(); err != nil {
			return err
		}
		c := t.choice
		if s.chat && c.tokens == 1 {
			x.send(s.opening(c)) // by itself, as engines do: a client may read it long before the token
		}
		if c.pack.breaks(t) {
			x.send(s.event(c, c.pack.take(true, "")))
		}
		if c.pack.add(t, interval, an.e.cfg.SplitCharacters) {
			x.send(s.event(c, c.pack.take(false, c.reason())))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := an.handInRooms(ctx); err != nil {
		return err
	}
	var end []byte
	if s.usage {
		end = s.totals(an.usage())
	}
	return x.finish(append(end, "data: [DONE]\n\n"...))
}

// whole writes the answer in one piece, when all of it exists.
func (an *answer) whole(ctx context.Context, x *wire) error {
	all := make([]told, len(an.choices))
	err := an.each(ctx, func(t token) error {
		all[t.choice.index].add(t)
		if an.ask.body.ReturnTokenIDs {
			t.choice.ids = append(t.choice.ids, t.id)
		}
		return x.pass()
	})
	if err != nil {
		return err
	}
	if err := an.handInRooms(ctx); err != nil {
		return err
	}
	return x.finish(mustJSON(an.document(all)))
}

// document returns the body of an answer that is not streamed.
func (an *answer) document(all []told) *whole {
	d := &whole{ID: an.ask.answerID(), Object: "text_completion", Created: time.Now().Unix(), Model: an.ask.model,
		Usage: an.usage(), Transfer: an.transferReply()}
	if an.ask.chat {
		d.Object = "chat.completion"
	}
	for _, c := range an.choices {
		text := string(all[c.index].text)
		wc := wholeChoice{Index: c.index, Logprobs: []byte("null"), Finish: c.reason(), IDs: c.ids}
		if an.ask.chat {
			wc.Message = all[c.index].message()
		} else {
			wc.Text = &text
		}
		if an.ask.body.ReturnTokenIDs && an.ask.chat {
			d.Prompt = an.ask.prompts[c.prompt].tokens
		} else if an.ask.body.ReturnTokenIDs {
			wc.Prompt = an.ask.prompts[c.prompt].tokens
		}
		d.Choices = append(d.Choices, wc)
	}
	return d
}
