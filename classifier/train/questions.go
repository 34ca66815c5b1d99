package train

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"strings"
)

//go:embed testdata/questions/trained*.txt
var trainedQuestions embed.FS

// Questions are questions as people ask them, by topic, and the frames that stand around them.
type Questions struct {
	Topics []Topic
	frames map[string][]string // by wording
}

// Topic is one matter of a label, with what people paste when they ask about it.
type Topic struct {
	Label, Name string
	Code, Log   string
	Questions   []Question
}

// Question is one question in the three wordings that no frame makes.
type Question struct {
	Plain string
	Terse string // a few words, as typed into a search box
	Mixed string // a sentence of another language around the English terms
}

// TrainedQuestions are those that a model may be trained on: of all files trained*.txt, as if they were one. The
// held-out ones are in no program.
func TrainedQuestions() *Questions {
	const folder = "testdata/questions"
	files, err := trainedQuestions.ReadDir(folder)
	r := newQuestionReader()
	for i := 0; i < len(files) && err == nil; i++ {
		var text []byte
		if text, err = trainedQuestions.ReadFile(folder + "/" + files[i].Name()); err == nil {
			err = r.readAll(string(text))
		}
	}
	q := r.questions()
	if err = errors.Join(err, q.check()); err != nil {
		panic(fmt.Sprintf("train: the embedded questions: %v", err))
	}
	return q
}

// ReadQuestions reads the format of testdata/questions, which the head of trained.txt describes. Errors wrap ErrData
// and say which line, or which topic lacks something.
func ReadQuestions(text string) (*Questions, error) {
	r := newQuestionReader()
	if err := r.readAll(text); err != nil {
		return nil, err
	}
	q := r.questions()
	if err := q.check(); err != nil {
		return nil, err
	}
	return q, nil
}

// LoadQuestions reads a file of questions as labelled texts, each question in all wordings. Errors wrap ErrData.
func LoadQuestions(path string, seed uint64) ([]Sample, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrData, err)
	}
	q, err := ReadQuestions(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return q.Samples(seed), nil
}

// questionReader is what was read so far.
type questionReader struct {
	topics   []Topic
	frames   map[string][]string
	inFrames bool
	pasted   *string // the topic's Code or Log that is being read, nil outside of both
}

const framesName = "frames"

func newQuestionReader() *questionReader { return &questionReader{frames: map[string][]string{}} }

func (r *questionReader) questions() *Questions { return &Questions{r.topics, r.frames} }

// readAll reads one file more.
func (r *questionReader) readAll(text string) error {
	r.inFrames, r.pasted = false, nil
	for n, line := range strings.Split(text, "\n") {
		if err := r.read(strings.TrimRight(line, " \r")); err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrData, n+1, err)
		}
	}
	return nil
}

func (r *questionReader) read(line string) error {
	switch snippet, indented := strings.CutPrefix(line, "    "); {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case strings.HasPrefix(line, "== "):
		return r.begin(strings.TrimPrefix(line, "== "))
	case r.inFrames:
		return r.frame(line)
	case len(r.topics) == 0:
		return fmt.Errorf("%.40q before the first topic", line)
	case indented && r.pasted != nil:
		*r.pasted += snippet + "\n"
		return nil
	default:
		return r.inTopic(&r.topics[len(r.topics)-1], line)
	}
}

// begin opens a topic, or the frames.
func (r *questionReader) begin(head string) error {
	r.pasted, r.inFrames = nil, head == framesName
	if r.inFrames {
		return nil
	}
	label, name, ok := strings.Cut(head, " · ")
	if !ok || label == "" || name == "" {
		return fmt.Errorf("%.40q is no \"label · topic\"", head)
	}
	r.topics = append(r.topics, Topic{Label: label, Name: name})
	return nil
}

func (r *questionReader) frame(line string) error {
	wording, text, _ := strings.Cut(line, " ")
	needs, known := framed[wording]
	if !known {
		return fmt.Errorf("%.40q is no wording with frames", wording)
	}
	for _, place := range needs {
		if strings.Count(text, place) != 1 {
			return fmt.Errorf("a frame without one %s", place)
		}
	}
	r.frames[wording] = append(r.frames[wording], strings.ReplaceAll(text, `\n`, "\n"))
	return nil
}

// inTopic reads a question's line, or the heading of a snippet.
func (r *questionReader) inTopic(t *Topic, line string) error {
	kind, text, _ := strings.Cut(line, " ")
	last := len(t.Questions) - 1
	switch {
	case kind == "?" && text != "":
		t.Questions = append(t.Questions, Question{Plain: text})
	case kind == "-" && last >= 0:
		t.Questions[last].Terse = text
	case kind == "~" && last >= 0:
		t.Questions[last].Mixed = text
	case line == WordingCode:
		r.pasted = &t.Code
	case line == WordingLog:
		r.pasted = &t.Log
	default:
		return fmt.Errorf("%.40q is no line of a topic", line)
	}
	return nil
}

// check sees that each question has all of its wordings.
func (q *Questions) check() error {
	for wording := range framed {
		if len(q.frames[wording]) == 0 {
			return fmt.Errorf("%w: no frame for %s", ErrData, wording)
		}
	}
	for _, t := range q.Topics {
		if t.Code == "" || t.Log == "" || len(t.Questions) == 0 {
			return fmt.Errorf("%w: %s · %s: no code, no log or no question", ErrData, t.Label, t.Name)
		}
		for _, one := range t.Questions {
			if one.Terse == "" || one.Mixed == "" {
				return fmt.Errorf("%w: %s · %s: %.40q lacks a line", ErrData, t.Label, t.Name, one.Plain)
			}
		}
	}
	if len(q.Topics) == 0 {
		return fmt.Errorf("%w: no topics", ErrData)
	}
	return nil
}
