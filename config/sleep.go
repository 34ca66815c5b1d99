package config

import (
	"strings"
	"time"
	"unicode"
)

// Sleep is what becomes of requests while no replica serves, and of replicas that are idle.
type Sleep struct {
	// Requests wait so long for a replica to wake or to appear; 0s = they are refused at once, and wake it where after
	// or wake is given; 0s alone leaves replicas that sleep to their operator. Without this section requests wait for
	// what is known to come: replicas that sleep, and those that discover may find. With it also for replicas that are
	// down.
	Hold time.Duration `yaml:"hold" default:"60s" range:"0s..1h"`
	// How a replica is woken, once, when the first request waits.
	Wake Wake `yaml:"wake"`
	// A replica that is idle for so long is asked to sleep; 0s = never.
	After time.Duration `yaml:"after" default:"0s" range:"0s..720h"`
}

// Wake is how a replica is woken.
type Wake struct {
	// Where an engine that sleeps is asked, by POST; empty = where its kind is: /wake_up of vLLM, for one.
	Path string `yaml:"path" form:"path"`
	// A program that is run instead, without a shell: its words, with quotes around those that have spaces. Its
	// environment has OCTET_SPECIALIST. Exit 0 is success; the replicas' own probes say when they serve.
	Command string `yaml:"command" form:"command"`
	// Time that waking may take, after which the engine's answer is not waited for, and the program is killed with its
	// children.
	Timeout time.Duration `yaml:"timeout" default:"60s" range:"100ms..1h"`
}

// Sleeping returns the specialist's section, or the defaults where it has none.
func (s *Specialist) Sleeping() Sleep {
	if s.Sleep != nil {
		return *s.Sleep
	}
	return Sleep{Hold: time.Minute, Wake: Wake{Timeout: time.Minute}}
}

// Wakes reports whether replicas that sleep are woken for requests: not where the section has hold: 0s alone, which
// leaves them to their operator.
func (s *Sleep) Wakes() bool {
	return s.Hold > 0 || s.After > 0 || s.Wake.Path != "" || s.Wake.Command != ""
}

// Argv returns the words of the command; nil if there is none.
func (w *Wake) Argv() []string {
	words, _ := splitWords(w.Command)
	return words
}

// formCommand wants words whose quotes are closed.
func formCommand(text string) *problem {
	if _, closed := splitWords(text); !closed {
		return wrong(CodeBadValue, "%q has a quote that is not closed", clip(text))
	}
	return nil
}

// splitWords splits a command at spaces that are not quoted, by ' or ". There are no other rules: nothing is expanded.
func splitWords(text string) (words []string, closed bool) {
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range text {
		switch {
		case c == quote && quote != 0:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote == 0 && unicode.IsSpace(c):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, quote == 0
}
