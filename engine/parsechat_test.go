package engine

import (
	"slices"
	"testing"
)

func TestAParsedChatIsTheOneThatWasRendered(t *testing.T) {
	for _, messages := range [][]Message{
		{{"user", "hello"}},
		{{"system", "be brief"}, {"user", "a\n\nb"}, {"assistant", ""}, {"user", "<|user|>\nnot a turn"}},
		{{"user", "a mark <|end|>\nin the middle"}, {"tool", "<|end|>"}},
		{{"user", ""}, {"user", "x"}},
	} {
		for _, ending := range []Ending{OpenAnswer, ContinueLast} {
			got, is := ParseChat(string(RenderChat(nil, messages, ending)))
			if !is || !slices.Equal(got, messages) {
				t.Errorf("%+v, ending %d: %+v", messages, ending, got)
			}
		}
	}
	for _, plain := range []string{"", "hello", "<|", "<|user|>", "<|end|>\n", "<|a role|>\nx", "a <|user|>\nb"} {
		if got, is := ParseChat(plain); is {
			t.Errorf("%q is a chat of %+v", plain, got)
		}
	}
}
