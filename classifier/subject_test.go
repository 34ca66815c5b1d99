package classifier

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheLastUserTurnAndWhatToolsAnsweredIsRead(t *testing.T) {
	long := strings.Repeat("a long question about containers ", 4)
	for _, row := range []struct {
		name  string
		turns []Turn
		want  string
	}{
		{"one turn", []Turn{{"user", []byte("why?")}}, "why?"},
		{"the last long turn alone",
			[]Turn{{"user", []byte("old")}, {"assistant", []byte("answer")}, {"user", []byte(long)}}, long},
		{"a short turn with those before it",
			[]Turn{{"system", []byte("be brief")}, {"user", []byte("first")}, {"assistant", []byte("answer")},
				{"user", []byte("and why?")}}, "and why?\n\nfirst"},
		{"what a tool said after it",
			[]Turn{{"user", []byte("old")}, {"user", []byte(long)}, {"assistant", []byte("calling")},
				{"tool", []byte("said " + long)}}, "said " + long + "\n\n" + long},
		{"nobody asked", []Turn{{"system", []byte("be brief")}, {"assistant", []byte("hello")}}, ""},
	} {
		if got := string(Input{Turns: row.turns, Text: []byte("not read")}.gather()); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func TestALongAnswerOfAToolLeavesTheRoomToTheUser(t *testing.T) {
	asked := "how do I read this trace " + strings.Repeat("and this ", 10)
	turns := []Turn{{"user", []byte(asked)}, {"tool", bytes.Repeat([]byte("trace\n"), 1<<20)}}
	got := (Input{Turns: turns}).gather()
	if !bytes.Contains(got, []byte(asked)) || len(got) > maxRead/2 {
		t.Fatalf("%d bytes, ending in %q", len(got), got[len(got)-100:])
	}
}

func TestALongTextIsReadAtItsHeadAndItsTail(t *testing.T) {
	text := []byte("first\n" + strings.Repeat(strings.Repeat("x", 99)+"\n", 10_000) + "last")
	got := Input{Text: text}.gather()
	if !bytes.HasPrefix(got, []byte("first\n")) || !bytes.HasSuffix(got, []byte("last")) || len(got) > maxRead+2 ||
		len(got) < maxRead-300 {
		t.Fatalf("%d bytes, %q … %q", len(got), got[:10], got[len(got)-10:])
	}
	model := &fake{out: sure, reject: 0.05}
	if _, err := cascade(t, func(c *Config) { c.Model = model }).Classify(Input{Text: text}); err != nil ||
		len(model.text) != len(got) {
		t.Fatalf("the model reads %d bytes: %v", len(model.text), err)
	}
}

func TestTheModelNeverSeesMoreThanTheBoundHoweverManyTurns(t *testing.T) {
	turns := make([]Turn, 5000)
	for i := range turns {
		turns[i] = Turn{"user", bytes.Repeat([]byte("y"), 79)}
	}
	if got := (Input{Turns: turns}).gather(); len(got) > maxRead+2*len(turns) || len(got) < maxRead {
		t.Fatalf("%d bytes", len(got))
	}
	if text := []byte("kept"); &(Input{Text: text}).gather()[0] != &text[0] {
		t.Error("a single part is not copied")
	}
}
