package train

import (
	"math/rand/v2"
	"strings"
	"unicode"

	"github.com/zeebo/xxh3"
)

// The ten wordings of a question.
const (
	WordingPlain    = "plain"
	WordingLower    = "lower"
	WordingGreeting = "greeting"
	WordingLetter   = "letter"
	WordingTerse    = "terse"
	WordingCode     = "code"
	WordingLog      = "log"
	WordingFollowUp = "followup"
	WordingMixed    = "mixed"
	WordingTypos    = "typos"
)

// Wordings are all of them, in the order of a table's columns.
var Wordings = [...]string{WordingPlain, WordingLower, WordingGreeting, WordingLetter, WordingTerse, WordingCode,
	WordingLog, WordingFollowUp, WordingMixed, WordingTypos}

const questionPlace, snippetPlace = "{question}", "{snippet}"

// framed are the wordings that frames make, and what each frame has a place for.
var framed = map[string][]string{
	WordingGreeting: {questionPlace}, WordingLetter: {questionPlace}, WordingFollowUp: {questionPlace},
	WordingCode: {questionPlace, snippetPlace}, WordingLog: {questionPlace, snippetPlace},
}

// QuestionSource is what stands before a topic's name in the Source of its samples.
const QuestionSource = "octet/questions/"

// Samples are all questions in all wordings, ten a question in the order of Wordings. Tier is the wording, Source names
// the topic. Seed decides which frame and which typos a question gets.
func (q *Questions) Samples(seed uint64) []Sample { return q.Dealt(seed, 1) }

// Dealt are Samples of which no two folds share a frame: the frames are dealt into as many parts as there are folds,
// and a topic has the frames of its fold. What a fold left out is then asked in frames that were not learnt.
func (q *Questions) Dealt(seed uint64, folds int) (samples []Sample) {
	order := map[string]int{} // of topics: dealTopics goes by it
	for i := range q.Topics {
		t := &q.Topics[i]
		if _, known := order[t.Name]; !known {
			order[t.Name] = len(order)
		}
		one := Questions{frames: q.part(order[t.Name], folds)}
		for _, asked := range t.Questions {
			dice := rand.New(rand.NewPCG(seed, xxh3.HashString(t.Name+"\x00"+asked.Plain)))
			for _, w := range Wordings {
				samples = append(samples, Sample{Text: one.worded(w, t, asked, dice), Label: t.Label,
					Source: QuestionSource + t.Name, Tier: w})
			}
		}
	}
	return samples
}

// part are the frames of one of n parts.
func (q *Questions) part(k, n int) map[string][]string {
	frames := map[string][]string{}
	for wording, all := range q.frames {
		parts := max(1, min(n, len(all)))
		for i := k % parts; i < len(all); i += parts {
			frames[wording] = append(frames[wording], all[i])
		}
	}
	return frames
}

func (q *Questions) worded(wording string, t *Topic, one Question, dice *rand.Rand) string {
	switch wording {
	case WordingLower:
		return strings.TrimRight(strings.ToLower(one.Plain), "?.")
	case WordingTerse:
		return one.Terse
	case WordingMixed:
		return one.Mixed
	case WordingTypos:
		return mistyped(one.Plain, dice)
	case WordingCode:
		return q.framed(wording, one.Plain, t.Code, dice)
	case WordingLog:
		return q.framed(wording, one.Plain, t.Log, dice)
	case WordingGreeting, WordingLetter, WordingFollowUp:
		return q.framed(wording, one.Plain, "", dice)
	}
	return one.Plain
}

func (q *Questions) framed(wording, question, snippet string, dice *rand.Rand) string {
	frames := q.frames[wording]
	return strings.NewReplacer(questionPlace, question, snippetPlace, strings.TrimRight(snippet, "\n")).
		Replace(frames[dice.IntN(len(frames))])
}

// mistypedOneIn is how many words there are to one with a typo.
const mistypedOneIn = 5

// mistyped has a typo in about one word in mistypedOneIn, and in one at least. First letters stay.
func mistyped(text string, dice *rand.Rand) string {
	words := strings.Split(text, " ")
	for n := max(1, len(words)/mistypedOneIn); n > 0; n-- {
		i := dice.IntN(len(words))
		words[i] = typo([]rune(words[i]), dice)
	}
	return strings.Join(words, " ")
}

// typo swaps two neighbouring letters, drops one, doubles one, or hits the key beside it. A word of less than four
// letters, or with anything but letters where the typo would be, stays.
func typo(word []rune, dice *rand.Rand) string {
	if len(word) < 4 {
		return string(word)
	}
	i := 1 + dice.IntN(len(word)-2)
	if !unicode.IsLetter(word[i]) || !unicode.IsLetter(word[i+1]) {
		return string(word)
	}
	head, tail := string(word[:i]), string(word[i+1:])
	switch dice.IntN(4) {
	case 0:
		return head + string(word[i+1]) + string(word[i]) + string(word[i+2:])
	case 1:
		return head + tail
	case 2:
		return head + string(word[i]) + string(word[i]) + tail
	default:
		return head + string(beside(word[i])) + tail
	}
}

// beside is the key right of a letter's, or left of it at a row's end. Others stay.
func beside(r rune) rune {
	for _, row := range [...]string{"qwertyuiop", "asdfghjkl", "zxcvbnm"} {
		if at := strings.IndexRune(row, unicode.ToLower(r)); at >= 0 {
			if at+1 < len(row) {
				return rune(row[at+1])
			}
			return rune(row[at-1])
		}
	}
	return r
}
