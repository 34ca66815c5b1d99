package train

import (
	_ "embed"
	"math/rand/v2"
	"strings"
)

//go:embed frames.txt
var frameList string

// frames are texts that say nothing of what a request is about, by kind.
var frames = func() map[string][]string {
	by := map[string][]string{}
	for line := range strings.Lines(frameList) {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "#" {
			by[kind] = append(by[kind], strings.ReplaceAll(text, `\n`, "\n"))
		}
	}
	return by
}()

// order is in which order the kinds stand around a text, "" for the text itself, with how often each is there and how
// many of it at most.
var order = [...]struct {
	kind  string
	often float64
	most  int
}{
	{"system", 0.15, 2}, {"greet", 0.6, 1}, {"after", 0.1, 1}, {"intro", 0.5, 4}, {"lead", 0.3, 1}, {},
	{"close", 0.5, 3}, {"thanks", 0.5, 2}, {"sign", 0.35, 1},
}

// inLetter is text as a letter has it: between a greeting, courtesy and a signature, some of them.
func inLetter(text string, chance *rand.Rand) string {
	var out strings.Builder
	apart := [...]string{" ", "\n", "\n\n"}[chance.IntN(3)]
	put := func(part string) {
		if out.Len() > 0 {
			out.WriteString(apart)
		}
		out.WriteString(part)
	}
	for _, o := range order {
		if o.kind == "" {
			put(text)
			continue
		}
		if chance.Float64() >= o.often {
			continue
		}
		for range 1 + chance.IntN(o.most) {
			put(frame(o.kind, chance))
		}
	}
	if chance.IntN(8) == 0 {
		return strings.ToLower(out.String())
	}
	return out.String()
}

// frame is a text of a kind, with the slots in it filled.
func frame(kind string, chance *rand.Rand) string {
	text := frames[kind][chance.IntN(len(frames[kind]))]
	for {
		before, rest, found := strings.Cut(text, "{")
		if !found {
			return text
		}
		slot, after, _ := strings.Cut(rest, "}")
		text = before + frames[slot][chance.IntN(len(frames[slot]))] + after
	}
}
