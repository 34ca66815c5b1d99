package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokenizers"
	"octet/gateway/intake"
	"octet/gateway/wire"
	"octet/routing"
)

const (
	askFor = 5 * time.Second  // one question
	tryFor = 20 * time.Second // one trial request
)

// asked returns what a question brings within its time.
func asked[T any](ctx context.Context, most time.Duration, question func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return question(ctx)
}

// Ask puts all questions to a replica's engine that cost it nothing.
func Ask(ctx context.Context, s *Subject) (f *Facts, client *openai.Client) {
	f = &Facts{Subject: s}
	f.Kind, _ = s.Kinds.Named(s.Replica.Engine)
	client, f.Reach = s.Dial(s.Replica.Engine)
	if f.Reach != nil {
		return f, nil
	}
	_, f.Reach = asked(ctx, askFor, func(ctx context.Context) (any, error) { return nil, client.Probe(ctx) })
	if f.Reach != nil {
		return f, client
	}
	f.Identity, f.IdentityErr = asked(ctx, askFor, func(ctx context.Context) (openai.Identity, error) {
		return client.Identify(ctx, s.Replica.Model)
	})
	if s.Replica.Engine == engine.Auto && f.IdentityErr == nil {
		f.Kind, _ = s.Kinds.Named(f.Identity.Kind)
		_ = client.Close() // idle connections only
		if client, f.Reach = s.Dial(f.Identity.Kind); f.Reach != nil {
			return f, nil
		}
	}
	f.ask(ctx, client)
	return f, client
}

// ask puts the questions whose answers depend on the kind.
func (f *Facts) ask(ctx context.Context, c *openai.Client) {
	model := f.Replica.Model
	f.Standing, _ = asked(ctx, askFor, func(ctx context.Context) (openai.Standing, error) {
		return c.Standing(ctx, model)
	})
	f.Models, f.ModelsErr = asked(ctx, askFor, c.Models)
	f.Build, _ = asked(ctx, askFor, c.Build)
	f.Ahead, f.AheadErr = asked(ctx, askFor, c.Ahead)
	f.Metrics, f.MetricsErr = asked(ctx, askFor, c.Scrape)
	f.Loads, f.LoadsErr = asked(ctx, askFor, c.LoadsAdapters)
}

// compare has the tokens of probes compared, where the gateway makes them.
func (f *Facts) compare(ctx context.Context, c *openai.Client) (tokenizers.Comparison, error) {
	e := tokenizers.Engine{Replica: f.Replica.Name, Kind: f.Kind, Client: c}
	switch {
	case f.Tokens == tokenizers.File && f.Local != nil:
		return f.Local.Compare(ctx, f.Replica.Model, e)
	case f.Tokens == tokenizers.Builtin:
		return tokenizers.CompareBuiltin(ctx, f.Replica.Model, e, rendered)
	}
	return tokenizers.Comparison{}, nil
}

// rendered returns the prompt of a probe as the gateway renders it for emulated engines.
func rendered(p *routing.Facts) ([]byte, bool) {
	kind := wire.Chat
	if p.Kind == "completion" {
		kind = wire.Completion
	}
	var r wire.Request
	if wire.Parse(kind, p.Body, wire.Judged, &r) != nil || r.Raw("tool_choice") != nil {
		return nil, false
	}
	return intake.RenderPrompt(kind, &r, wire.Shown{}, nil), true
}

// trials makes the two requests.
func (f *Facts) trials(ctx context.Context, c *openai.Client) {
	if f.Why = f.spared(); f.Why != "" {
		return
	}
	f.Words = f.prompt()
	t := openai.Trial{Model: f.Replica.Model, Prompt: f.Words}
	try := func() (openai.Tried, error) {
		return asked(ctx, tryFor, func(ctx context.Context) (openai.Tried, error) { return c.Try(ctx, t) })
	}
	first, err := try()
	if f.First = err; err != nil {
		return
	}
	f.Prompt = first.Prompt
	if f.Replica.ForwardPriority {
		t.Priority = f.Kind.Priority(1)
	}
	second, err := try()
	if err != nil && t.Priority != 0 {
		f.Priority, t.Priority = err, 0
		second, err = try()
	}
	f.Err, f.Cached = err, second.Cached
	f.IDs = f.identify(ctx, c)
}

// again makes a request with another prompt that no engine has seen. It returns true if it was answered.
func (f *Facts) again(ctx context.Context, c *openai.Client) bool {
	t := openai.Trial{Model: f.Replica.Model, Prompt: f.prompt()}
	_, err := asked(ctx, tryFor, func(ctx context.Context) (openai.Tried, error) { return c.Try(ctx, t) })
	return err == nil
}

// identify returns the prompt's tokens as the engine has them; nil if it does not say.
func (f *Facts) identify(ctx context.Context, c *openai.Client) []uint32 {
	if !f.Kind.TokenizesChats {
		return nil
	}
	body := fmt.Sprintf(`{"model":%s,"prompt":%s}`, strconv.Quote(f.Replica.Model), strconv.Quote(f.Words))
	ids, err := asked(ctx, askFor, func(ctx context.Context) ([]uint32, error) {
		return c.Tokenize(ctx, nil, []byte(body))
	})
	if err != nil {
		return nil
	}
	return ids
}

// spared returns why no request is to be made to an engine; "" if one may.
func (f *Facts) spared() string {
	switch {
	case f.Standing.Asleep:
		return "the engine sleeps"
	case f.Standing.Loading:
		return "the engine loads its model"
	case f.Replica.Role == "preprocess":
		return "it answers no requests"
	case f.Replica.Role != "both" && f.Kind.Transfer == engine.TransfersByMeeting:
		return "it answers no requests alone"
	case f.Kind.Hashes == engine.HashesNothing || f.Kind.Hashes == engine.HashesUnknown && f.Replica.Events == nil:
		return "engines of this kind tell nothing of their caches"
	case f.IdentityErr == nil && f.Identity.Sure && f.Identity.Kind != f.Kind.Name:
		return "the engine is of another kind"
	}
	return ""
}

// maxBlock bounds the blocks that a trial fills, in tokens; hybrid models have large ones.
const maxBlock = 4096

// prompt returns a prompt that no engine has seen, which fills two blocks and a bit.
func (f *Facts) prompt() string {
	block := f.Specialist.BlockSize
	if f.Metrics.Has(openai.HasBlockSize) {
		block = max(block, f.Metrics.BlockSize)
	}
	words := 2*min(block, maxBlock) + 4
	if limit := f.Identity.Limit; limit > 8 {
		words = min(words, limit/2)
	}
	var text strings.Builder
	text.WriteString("octet doctor " + rand.Text())
	for i := range words {
		text.WriteString(" ")
		text.WriteString([]string{"one", "two", "red", "sun"}[i%4])
	}
	return text.String()
}

// closeClient ends what Ask has opened.
func closeClient(c *openai.Client) {
	if c != nil {
		_ = c.Close() // idle connections only
	}
}

// find returns a model of the engine's list; nil if it is not there.
func (f *Facts) find(name string) *openai.Model {
	if i := slices.IndexFunc(f.Models, func(m openai.Model) bool { return m.ID == name }); i >= 0 {
		return &f.Models[i]
	}
	return nil
}
