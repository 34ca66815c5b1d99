package emulator

import (
	"embed"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/zeebo/xxh3"
)

// Each file is one specialist's manner: sections "== open", "== code language" and "== close", of which an answer takes
// one each, and "== words x" with a line for each thing that {x} may stand for. {topic} is what the prompt is about.
//
//go:embed prose/*.txt
var manners embed.FS

// answerWriter writes the answers of one specialist, of 40 to 160 tokens. An answer depends on the prompt and its
// variant alone, so that every replica would give the same one, and go on with another's.
type answerWriter struct {
	model             string
	open, code, close []string   // code with its fences
	words             []wordList // in file order, so that the same seed draws the same words
}

type wordList struct {
	slot    string // with its braces
	choices []string
}

// newAnswerWriter returns the writer whose name is part of the model's, or one without a speciality.
func newAnswerWriter(model string) *answerWriter {
	for _, name := range [...]string{"template", "stl", "algo", "memory", "concurrency", "systems", "build", "debug"} {
		if strings.Contains(strings.ToLower(model), name) {
			return readAnswerWriter(model, name)
		}
	}
	return readAnswerWriter(model, "generic")
}

// readAnswerWriter reads one embedded file for a model; that it can is proven by a test.
func readAnswerWriter(model, name string) *answerWriter {
	text, err := manners.ReadFile("prose/" + name + ".txt")
	if err != nil {
		panic(fmt.Sprintf("emulator: %v", err))
	}
	a := &answerWriter{model: model}
	for _, section := range strings.Split("\n"+string(text), "\n== ")[1:] {
		head, content, _ := strings.Cut(section, "\n")
		content = strings.Trim(content, "\n")
		switch kind, arg, _ := strings.Cut(head, " "); kind {
		case "open":
			a.open = append(a.open, content)
		case "code":
			a.code = append(a.code, "```"+arg+"\n"+content+"\n```")
		case "close":
			a.close = append(a.close, content)
		case "words":
			a.words = append(a.words, wordList{"{" + arg + "}", strings.Split(content, "\n")})
		default:
			panic(fmt.Sprintf("emulator: prose/%s.txt: unknown section %q", name, head))
		}
	}
	return a
}

// answer returns the script of the answer to p, from its token number from on.
func (a *answerWriter) answer(t codec, p prompt, variant uint64, from int) script {
	return newTextScript(t, []byte(a.prose(p, variant)), from)
}

// prose returns the text of the answer to p.
func (a *answerWriter) prose(p prompt, variant uint64) string {
	rng := rand.New(rand.NewPCG(draw(p.tokens, variant), variant))
	text := pick(rng, a.open) + "\n\n" + pick(rng, a.code) + "\n\n" + pick(rng, a.close) + "\n"
	slots := []string{"{topic}", topic(p.text)}
	for _, w := range a.words {
		slots = append(slots, w.slot, pick(rng, w.choices))
	}
	return strings.NewReplacer(slots...).Replace(text)
}

// draw returns what a prompt's answer is drawn by, whatever blocks are called: xxh3 of its tokens as little-endian
// uint32.
func draw(tokens []uint32, variant uint64) uint64 {
	b := make([]byte, 0, 4*len(tokens))
	for _, t := range tokens {
		b = binary.LittleEndian.AppendUint32(b, t)
	}
	return xxh3.HashSeed(b, variant)
}

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }
