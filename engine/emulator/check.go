package emulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var textModes = []string{TextIndex, TextProse, TextTools, TextTiny}

// prose reports whether answers are prose, which ends by itself.
func (c Config) prose() bool { return c.Text == TextProse || c.Text == TextTools }

// check returns every fault of a Config that has its defaults.
func (c Config) check() error {
	var faults []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...)))
		}
	}
	bad(!slices.Contains(textModes, c.Text), "text mode %q is none of %s", c.Text, strings.Join(textModes, ", "))
	bad(c.Text == TextTiny && c.Blocks*c.BlockSize > maxTinyTokens, "a tiny model of %d tokens, more than %d",
		c.Blocks*c.BlockSize, maxTinyTokens)
	bad(c.Text != TextTiny && (c.Draft != 0 || c.Hybrid), "draft or hybrid in text mode %q", c.Text)
	bad(c.Mode != "" && c.Mode != ModePrefill && c.Mode != ModeDecode, "mode %q is neither prefill nor decode", c.Mode)
	bad(c.Tokenizer != "" && !c.prose(), "a tokenizer in text mode %q, which has tokens of its own", c.Text)
	bad(c.Tokenizer == "" && c.ChatTemplate != "", "a chat template without a tokenizer")
	bad(c.Draft < 0 || c.Draft > maxDraft, "a draft of %d tokens, of at most %d", c.Draft, maxDraft)
	bad(c.BlockSize < 1 || c.Blocks < 1, "a pool of %d blocks of %d tokens", c.Blocks, c.BlockSize)
	bad(c.MaxRunning < 1 || c.MaxWaiting < 1, "max running %d, max waiting %d", c.MaxRunning, c.MaxWaiting)
	bad(c.TokenBudget < c.MaxRunning, "a budget of %d tokens a step for %d sequences", c.TokenBudget, c.MaxRunning)
	bad(c.MaxModelLen < 2 || c.MaxModelLen > c.Blocks*c.BlockSize, "max model len %d in a pool of %d tokens",
		c.MaxModelLen, c.Blocks*c.BlockSize)
	for _, door := range c.Doors {
		bad(door != DoorMessages && door != DoorResponses, "door %q is neither messages nor responses", door)
	}
	bad(c.StreamInterval < 1, "%d tokens an event", c.StreamInterval)
	bad(!(c.PrefillTPS > 0), "prefill of %v tokens a second", c.PrefillTPS)
	for _, f := range c.Faults {
		if err := f.check(); err != nil {
			faults = append(faults, fmt.Errorf("%w: %w", ErrConfig, err))
		}
	}
	return errors.Join(faults...)
}
