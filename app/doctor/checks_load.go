package doctor

import (
	"context"
	"errors"
	"strconv"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokenizers"
)

// engineBlock returns the tokens of one of the engine's blocks, and what tells; 0 if nothing does.
func (f *Facts) engineBlock() (tokens int, from string) {
	for i := range f.Stored {
		if size := f.Stored[i].BlockSize; size > 0 {
			return size, "its events"
		}
	}
	if f.Metrics.Has(openai.HasBlockSize) {
		return f.Metrics.BlockSize, "its metrics"
	}
	return 0, ""
}

func blockSize(f *Facts) Verdict {
	theirs, from := f.engineBlock()
	ours := f.Specialist.BlockSize
	cure := either(f.of("block_size", theirs), start(f.Kind.Flags.BlockSize, strconv.Itoa(ours), ""))
	switch {
	case theirs == 0:
		return unasked("it does not tell the size of its blocks")
	case theirs == ours:
		return pass("%d tokens, by %s", ours, from)
	case theirs%ours == 0:
		return warn(cure, "%d tokens are configured, and by %s it has blocks of %d: each counts as %d", ours, from,
			theirs,
			theirs/ours)
	}
	return fail(cure, "%d tokens are configured, and by %s it has blocks of %d", ours, from, theirs)
}

func pool(f *Facts) Verdict {
	theirs := 0
	if f.MetricsErr == nil {
		theirs = f.Metrics.Pool(f.Specialist.BlockSize)
	}
	cure := either(f.key("blocks", theirs), "0 to have the engine tell it")
	switch {
	case theirs == 0:
		return unasked("it does not tell its pool")
	case f.Blocks == 0:
		return pass("%d blocks, as the engine says", theirs)
	case f.Blocks > theirs:
		return fail(cure, "%d blocks of %d tokens are configured, and the engine has %d", f.Blocks,
			f.Specialist.BlockSize,
			theirs)
	case f.Blocks < theirs/2:
		return warn(cure, "%d blocks of %d tokens are configured, and the engine has %d", f.Blocks,
			f.Specialist.BlockSize,
			theirs)
	}
	return pass("%d blocks, of the engine's %d", f.Blocks, theirs)
}

func metrics(f *Facts) Verdict {
	switch {
	case f.Kind.Paths.Metrics == "":
		return unasked("servers of this kind have none that is known")
	case isAway(f.MetricsErr):
		return unasked("it did not answer: " + f.MetricsErr.Error())
	case f.MetricsErr != nil:
		return warn(start(f.Kind.Flags.Metrics, "", "turn its metrics on"), "%s: %v", f.Kind.Paths.Metrics,
			f.MetricsErr)
	case f.Metrics.Tells() && !f.Metrics.Has(openai.HasRunning|openai.HasWaiting):
		return warn("an engine of a release that is known to work: see the check version",
			"%s has series of %s, and none of running and waiting requests under a name that is known",
			f.Kind.Paths.Metrics, f.Kind.Name)
	case !f.Metrics.Tells():
		return warn(start(f.Kind.Flags.Metrics, "", "turn its metrics on"),
			"%s has no series of running and waiting requests under a name of %s", f.Kind.Paths.Metrics, f.Kind.Name)
	}
	return pass("%d running, %d waiting", f.Metrics.Running, f.Metrics.Waiting)
}

// isAway returns true if err says that the engine was not there, or not in time: nothing of it was seen.
func isAway(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, engine.ErrConnect) || errors.Is(err, engine.ErrReset) || errors.Is(err, engine.ErrTimeout)
}

func tokens(f *Facts) Verdict {
	c := f.Compared
	engines := f.of("tokenizer", "engine")
	cure := either(f.of("tokenizer", "the tokenizer.json that the engine was started with"), engines)
	render := either(f.of("chat_template", "the one that the engine was started with"), engines)
	switch {
	case f.Tokens == tokenizers.ByEngine:
		return pass("the engine's own")
	case f.Tokens == tokenizers.None:
		return pass("not compared: text stands for tokens")
	case errors.Is(f.ComparedErr, openai.ErrUnsupported):
		return unasked("it has no /tokenize")
	case f.ComparedErr != nil:
		return unasked("it did not tokenize: " + f.ComparedErr.Error())
	case c.Words != nil:
		return fail(cure, "it tokenizes otherwise: %v", c.Words)
	case c.Chats != nil:
		return fail(render, "it tokenizes texts likewise, and renders messages otherwise: %v", c.Chats)
	case c.Tools != nil:
		return warn(render, "it renders tools otherwise: %v", c.Tools)
	case c.Compared == 0:
		return unasked("no probe is rendered by both sides")
	}
	return pass("equal on %d probes", c.Compared)
}

func adapters(f *Facts) Verdict {
	if len(f.Specialist.Adapters) == 0 {
		return pass("none are declared")
	}
	if !f.Kind.ListsAdapters || f.Kind.ScalesAdapters() || f.ModelsErr != nil {
		return unasked("it does not list its adapters by name")
	}
	for i := range f.Specialist.Adapters {
		if v := f.adapter(&f.Specialist.Adapters[i]); v.Status != Pass {
			return v
		}
	}
	return pass("%d declared", len(f.Specialist.Adapters))
}

// adapter is the verdict on one adapter that is declared.
func (f *Facts) adapter(a *config.Adapter) Verdict {
	listed := f.find(a.Name)
	switch {
	case listed != nil && listed.Root != "" && a.Path != "" && listed.Root != a.Path && f.Known == nil:
		return warn(either("path: "+listed.Root, "unload it"), "%s is loaded from %s, and declared at %s", a.Name,
			listed.Root, a.Path)
	case listed != nil:
		return pass("%s is there", a.Name)
	case a.Path == "":
		return fail("a path for the adapter "+a.Name+", or load it into the engine",
			"%s is not loaded, and the gateway is not told where it is", a.Name)
	case f.LoadsErr == nil && !f.Loads:
		return fail(start(f.Kind.Flags.Adapters, "", "turn loading on"),
			"%s is not loaded, and the engine loads none while it runs", a.Name)
	}
	return pass("%s is loaded when it is asked for", a.Name)
}
