package train

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"octet/classifier/model"
)

const oneTopic = `# a comment
== frames
greeting Hi, {question}
letter Dear all,\n\n{question}\n\nBye
code {question}\n{snippet}
log {snippet}\n\n{question}
followup Thanks. {question}

== Algo · heaps
? Why is a heap stored as an array?
- heap as array why
~ Warum liegt ein heap in einem array?
code
    int left = 2 * i + 1;

    int right = left + 1;
log
    depth 3
`

func TestAQuestionIsAskedInTenWordings(t *testing.T) {
	q, err := ReadQuestions(oneTopic)
	if err != nil {
		t.Fatal(err)
	}
	samples, plain := q.Samples(1), "Why is a heap stored as an array?"
	want := []string{plain, "why is a heap stored as an array", "Hi, " + plain, "Dear all,\n\n" + plain + "\n\nBye",
		"heap as array why", plain + "\nint left = 2 * i + 1;\nint right = left + 1;", "depth 3\n\n" + plain,
		"Thanks. " + plain, "Warum liegt ein heap in einem array?"}
	for i, text := range want {
		if s := samples[i]; s != (Sample{text, "Algo", "octet/questions/heaps", Wordings[i]}) {
			t.Errorf("%s: %+v", Wordings[i], s)
		}
	}
	if !slices.Equal(samples, q.Samples(1)) {
		t.Error("the same seed gives other samples")
	}
	for seed := range uint64(20) {
		typos := q.Samples(seed)[9].Text
		if far := len(typos) - len(plain); far < -1 || far > 1 || typos[0] != 'W' {
			t.Errorf("seed %d: %q", seed, typos)
		}
	}
}

func TestQuestionsThatCannotBeUsedAreAnError(t *testing.T) {
	change := func(from, to string) string { return strings.Replace(oneTopic, from, to, 1) }
	for name, text := range map[string]string{
		"nothing": "", "no topic": oneTopic[:strings.Index(oneTopic, "== Algo")],
		"a line before the first topic": "? Why?\n" + oneTopic, "no name": change("Algo · heaps", "Algo"),
		"no label": change("Algo · heaps", " · heaps"), "no frame": change("letter Dear", "# letter Dear"),
		"a frame of no wording":     change("letter Dear", "haiku Dear"),
		"a frame without its place": change("greeting Hi, {question}", "greeting Hi"),
		"code without its snippet":  change("{question}\\n{snippet}", "{question}"),
		"an unknown line":           change("- heap", "+ heap"), "no terse": change("- heap as array why\n", ""),
		"no mixed": change("~ Warum", "# Warum"), "no log": change("    depth 3\n", ""),
		"terse before the question": change("? Why", "- why"), "an empty question": change("? Why is", "? \n# "),
		"a snippet without a heading": change("code\n    int", "    int"),
	} {
		if _, err := ReadQuestions(text); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The labels are those of the builtin model, each with at least thirty questions, none asked twice.
func TestTheTrainedQuestionsAreOfAllNineClasses(t *testing.T) {
	q, of, seen := TrainedQuestions(), map[string]int{}, map[string]bool{}
	for _, topic := range q.Topics {
		of[topic.Label] += len(topic.Questions)
		for _, one := range topic.Questions {
			for _, text := range []string{one.Plain, one.Terse, one.Mixed} {
				if seen[text] {
					t.Errorf("twice: %s", text)
				}
				seen[text] = true
			}
			if words := len(strings.Fields(one.Terse)); words < 2 || words > 8 {
				t.Errorf("%d words are not terse: %s", words, one.Terse)
			}
		}
	}
	m, err := model.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range m.Labels() {
		if of[label] < 30 {
			t.Errorf("%s: %d questions", label, of[label])
		}
		delete(of, label)
	}
	if len(of) > 0 {
		t.Errorf("labels that the model does not have: %v", of)
	}
}

// Every question of every file trained*.txt counts.
func TestAllFilesOfTrainedQuestionsCount(t *testing.T) {
	files, err := filepath.Glob("testdata/questions/trained*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	wanted, found := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wanted += strings.Count(string(text), "\n? ")
	}
	for _, topic := range TrainedQuestions().Topics {
		found += len(topic.Questions)
	}
	if found != wanted {
		t.Errorf("%d questions of the %d in %v", found, wanted, files)
	}
}

func FuzzReadQuestions(f *testing.F) {
	f.Add(oneTopic)
	f.Add("== frames\ncode {question}{snippet}\n== a · b\n? c\n    d")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ReadQuestions(text)
		if (err == nil) != (q != nil) || err != nil && !errors.Is(err, ErrData) {
			t.Fatal(q, err)
		}
		if err == nil && len(q.Samples(1))%len(Wordings) != 0 {
			t.Fatal("not all wordings")
		}
	})
}
