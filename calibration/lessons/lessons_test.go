package lessons

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"octet/calibration"
)

// entry is one record as a line.
func entry(t *testing.T, r calibration.Record) []byte {
	t.Helper()
	r.V = calibration.Version
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// duel is the comparison of a request: primary's answer and shadow's.
func duel(receipt, text string, class calibration.Class, primary, shadow string) calibration.Record {
	return calibration.Record{Example: &calibration.Example{Receipt: receipt,
		Primary: calibration.Lane{Specialist: primary},
		Shadow:  calibration.Lane{Specialist: shadow}, Prompt: calibration.Text{Text: text},
		Comparison: calibration.Comparison{Class: class}}}
}

func verdict(receipt, specialist string, pass bool) calibration.Record {
	return calibration.Record{Verdict: &calibration.Verdict{Receipt: receipt,
		Lane: calibration.Lane{Specialist: specialist}, Kind: "compile", Pass: pass}}
}

// labels are those of an ensemble: both is the specialist of two.
func labels(specialist string) []string {
	return map[string][]string{"debug": {"Debug"}, "stl": {"STL"}, "both": {"Algo", "Memory"}}[specialist]
}

// of returns the lessons of records, in the order given, and their counts.
func of(t *testing.T, hold float64, records ...calibration.Record) ([]Lesson, Counts, error) {
	t.Helper()
	var r Records
	for _, one := range records {
		r.Line(entry(t, one))
	}
	return r.Lessons(Terms{Labels: labels, Hold: hold, Seed: 1})
}

func TestATextIsLabelledByWhatIsKnownOfItsAnswers(t *testing.T) {
	const text = "why does this loop never end?"
	for name, row := range map[string]struct {
		records []calibration.Record
		label   string // empty: none
		want    Counts // but for Records and Lessons
	}{
		"the shadow won": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "stl")}, "STL",
			Counts{}},
		"the primary won": {[]calibration.Record{duel("r", text, "primary_better", "debug", "stl")}, "Debug",
			Counts{}},
		"agreed": {[]calibration.Record{duel("r", text, "agree", "debug", "stl")}, "",
			Counts{Undecided: 1}},
		"they differ": {[]calibration.Record{duel("r", text, "differ", "debug", "stl")}, "",
			Counts{Undecided: 1}},
		"a stricter review": {[]calibration.Record{duel("r", text, "shadow_stricter", "debug", "stl")}, "",
			Counts{Undecided: 1}},
		"it passed": {[]calibration.Record{duel("r", text, "agree", "debug", "stl"),
			verdict("r", "debug", true)}, "Debug", Counts{}},
		"it failed": {[]calibration.Record{duel("r", text, "agree", "debug", "stl"),
			verdict("r", "debug", false)}, "", Counts{Wrong: 1}},
		"one of two failed": {[]calibration.Record{duel("r", text, "agree", "debug", "stl"),
			verdict("r", "debug", true), verdict("r", "debug", false)}, "", Counts{Wrong: 1}},
		"failed, the shadow won": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "stl"),
			verdict("r", "debug", false)}, "STL", Counts{}},
		"passed, and won": {[]calibration.Record{duel("r", text, "primary_better", "debug", "stl"),
			verdict("r", "debug", true)}, "Debug", Counts{}},
		"passed, and lost": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "stl"),
			verdict("r", "debug", true)}, "", Counts{Contradictory: 1}},
		"failed, and won": {[]calibration.Record{duel("r", text, "primary_better", "debug", "stl"),
			verdict("r", "debug", false)}, "", Counts{Contradictory: 1}},
		"two answered": {[]calibration.Record{duel("r", text, "agree", "debug", "stl"),
			verdict("r", "debug", true), verdict("r", "stl", true)}, "", Counts{Contradictory: 1}},
		"a verdict alone": {[]calibration.Record{verdict("r", "debug", true)}, "", Counts{WithoutText: 1}},
		"no text": {[]calibration.Record{duel("r", "", "shadow_better", "debug", "stl")}, "",
			Counts{WithoutText: 1}},
		"nothing is asked": {[]calibration.Record{duel("r", "<|system|>\nx<|end|>\n", "shadow_better", "debug",
			"stl")}, "", Counts{WithoutText: 1}},
		"no label": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "new")}, "",
			Counts{Unmapped: 1}},
		"two labels": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "both")}, "",
			Counts{Ambiguous: 1}},
		"twice": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "stl"),
			duel("s", text, "primary_better", "stl", "debug")}, "STL", Counts{Repeated: 1}},
		"twice, otherwise": {[]calibration.Record{duel("r", text, "shadow_better", "debug", "stl"),
			duel("s", text, "shadow_better", "stl", "debug")}, "", Counts{Contradictory: 2}},
	} {
		for _, backwards := range []bool{false, true} {
			records := slices.Clone(row.records)
			if backwards {
				slices.Reverse(records)
			}
			got, counts, err := of(t, 0.5, records...)
			want := row.want
			want.Records = len(records)
			if row.label != "" {
				want.Lessons, counts.Held = 1, 0
			}
			if counts != want || (len(got) == 1) != (row.label != "") || len(got) == 1 && got[0].Label != row.label {
				t.Errorf("%s: %+v, %+v, want %q, %+v", name, got, counts, row.label, want)
			}
			none := err == nil
			if row.label == "" {
				kind := ErrNoLessons
				if row.want.WithoutText > 0 {
					kind = ErrNoText
				}
				none = errors.Is(err, kind) && !strings.Contains(err.Error(), "loop")
			}
			if !none {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The text of a lesson is what the cascade shows a model: the last question, without system and assistant.
func TestALessonIsWhatTheClassifierSaw(t *testing.T) {
	question :=
		"What does std::move do to a vector that is returned from a function by value, and when does it not help?"
	chat :=
		"<|system|>\nYou are of ACME.<|end|>\n<|user|>\nhello<|end|>\n<|assistant|>\nHow can I " +
			"help?<|end|>\n<|user|>\n" +
			question + "<|end|>\n<|assistant|>\n"
	for _, prompt := range []string{chat, question} {
		got, _, err := of(t, 0.5, duel("r", prompt, "shadow_better", "debug", "stl"))
		if err != nil || got[0].Text != question {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// corpus are texts of random words: every third is a near twin of the one before, every fifth begins its conversation.
func corpus(n int) (records []calibration.Record, twins [][2]int) {
	dice := rand.New(rand.NewPCG(7, 7))
	sentence := func() string {
		var words []string
		for range 40 {
			words = append(words, fmt.Sprintf("w%d", dice.IntN(5000)))
		}
		return strings.Join(words, " ")
	}
	texts := make([]string, n)
	for i := range texts {
		own := sentence()
		prompt := "<|system|>\npreamble<|end|>\n<|user|>\nplease answer this question of a user as well as you can: " +
			own +
			"<|end|>\n<|assistant|>\n"
		switch {
		case i%3 == 1: // a few words of the one before are others
			words := strings.Fields(texts[i-1])
			words[10], words[30] = "other", "words"
			own = strings.Join(words, " ")
			prompt = "<|user|>\n" + own + "<|end|>\n<|assistant|>\n"
			twins = append(twins, [2]int{i - 1, i})
		case i%15 == 0: // a conversation, and its next turn
			prompt = "<|user|>\n" + own + "<|end|>\n"
		case i%15 == 2:
			prompt = "<|user|>\n" + texts[i-2] + "<|end|>\n<|assistant|>\nyes<|end|>\n<|user|>\n" + own + "<|end|>\n"
			twins = append(twins, [2]int{i - 2, i})
		}
		texts[i] = own
		records = append(records, duel(fmt.Sprint("r", i), prompt, "shadow_better", "debug", "stl"))
	}
	return records, twins
}

func TestNearTwinsAreOnOneSide(t *testing.T) {
	records, twins := corpus(300)
	all, counts, err := of(t, 0.3, records...)
	if err != nil || counts.Lessons != 300 {
		t.Fatalf("%+v, %v", counts, err)
	}
	if counts.Held < 50 || counts.Held > 140 {
		t.Errorf("%d of 300 are held out", counts.Held)
	}
	by := map[string]*Lesson{}
	groups := map[string]bool{}
	for i := range all {
		by[all[i].Text] = &all[i]
		groups[all[i].Group] = true
	}
	if len(groups) < 100 {
		t.Errorf("%d groups: what all share joins them", len(groups))
	}
	shown := func(i int) *Lesson {
		text, _ := seen(records[i].Example.Prompt.Text)
		return by[text]
	}
	for _, pair := range twins {
		if a, b := shown(pair[0]), shown(pair[1]); a.Group != b.Group || a.Held != b.Held {
			t.Errorf("%d and %d are twins, in %s and %s", pair[0], pair[1], a.Group, b.Group)
		}
	}
	dice := rand.New(rand.NewPCG(1, 2))
	dice.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	again, _, err := of(t, 0.3, records...)
	if err != nil || !reflect.DeepEqual(all, again) {
		t.Errorf("in another order they are others: %v", err)
	}
}

func TestLinesThatAreNoRecordsAreCounted(t *testing.T) {
	var r Records
	for _, line := range []string{"", "{}", "garbage", `{"v":9,"verdict":{}}`} {
		r.Line([]byte(line))
	}
	r.Line(entry(t, calibration.Record{Tally: &calibration.Tally{Intent: "review"}}))
	_, c, err := r.Lessons(Terms{Labels: labels, Hold: 0.5})
	if c != (Counts{Records: 1, Skipped: 4}) || !errors.Is(err, ErrNoLessons) {
		t.Errorf("%+v, %v", c, err)
	}
}
