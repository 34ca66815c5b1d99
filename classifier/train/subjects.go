package train

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"

	"octet/classifier/model"
)

//go:embed subjects.txt
var subjectList string

//go:embed asks.txt
var askList string

// forms are what is asked about a subject: %s, and often another one of its line.
var forms = [...]string{
	"%s", "%s?", "%s", "%s %s", "%s %s %s", "%s vs %s", "%s or %s", "%s example", "%s not working", "help with %s",
	"What is %s?", "What is %s and when would I use it?", "what does %s mean", "How does %s work?",
	"How do I do %s?", "How do I get %s right?", "how to %s", "How can I do %s without %s?", "best way to do %s",
	"Can you explain %s?", "Explain %s and %s.", "Could you show me how %s is done?", "Please write an example of %s.",
	"What is the difference between %s and %s?", "When should I prefer %s to %s?", "Should I replace %s with %s?",
	"Is %s a good idea here?", "Is it possible to combine %s with %s?", "Why is %s so hard?", "Why does %s fail?",
	"I have a problem with %s.", "I don't understand %s.", "%s: what are the common mistakes?", "%s is slow, why?",
	"We have %s and it does not behave as expected, could it be %s?", "%s in my project gives strange results",
	"Where do I start with %s?", "What should I know about %s?", "Does %s still matter today?",
	"Which is better, %s or %s?",
	"My colleague suggests %s instead of %s. Who is right?", "I am trying to understand %s. How is it related to %s?",
	"I tried %s and then %s, and neither helped.", "What happens with %s when there are many of them?",
	"Review my idea: %s, with %s on top.", "What do I need for %s?", "Is there an alternative to %s?",
}

// deeds are how people ask for what they want to do.
var deeds = [...]string{
	"How do I %s?", "How can I %s?", "How can I %s?", "how to %s", "how do you %s", "What is the best way to %s?",
	"Is there a way to %s?", "I want to %s.", "I need to %s, where do I start?", "I am trying to %s but I fail.",
	"Can you show me how to %s?", "Write code to %s.", "%s", "What do I need to %s?", "We have to %s and %s.",
	"Is it possible to %s without having to %s?", "Which is the usual way to %s?", "What is a good design to %s?",
	"I can't %s.", "Whenever I try to %s, something goes wrong.", "Should I %s or rather %s?", "Please %s.",
	"Give me an example that shows how to %s.", "Is it hard to %s?", "Why should I %s?", "I was asked to %s.",
}

// asIs is how a whole question is asked.
var asIs = [...]string{"%s"}

// sights are how people ask about what they see.
var sights = [...]string{
	"Why is it that %s?", "%s, why?", "%s. What can I do?", "%s", "I see that %s.",
	"It seems that %s, and I don't know why.",
	"What does it mean if %s?", "What can be the reason that %s?", "How do I prevent that %s?", "help, %s",
	"since yesterday %s",
	"In my program %s.", "What happens when %s?", "Sometimes %s and sometimes %s.", "I think that %s. Is that right?",
	"how come %s", "%s. How do I fix that?", "%s. Is that normal?",
}

// topics are how many sources the subjects of a label are dealt into: a word of two of them is learnt.
const topics = 6

// Subject is what a question may be about.
type Subject struct {
	Label string
	line  []string // the subject and others near it
	at    int
	forms []string
}

// Subjects are those of the eight C++ specialists, and many that are for none of them, with whole questions as subjects
// that are asked as they are.
func Subjects() (all []Subject) {
	for line := range strings.Lines(subjectList) {
		label, rest, named := strings.Cut(strings.TrimSpace(line), ": ")
		if !named || label[0] == '#' {
			continue
		}
		near, asked := strings.Split(rest, "; "), forms[:]
		switch {
		case strings.HasSuffix(label, " to"):
			label, asked = strings.TrimSuffix(label, " to"), deeds[:]
		case strings.HasSuffix(label, " that"):
			label, asked = strings.TrimSuffix(label, " that"), sights[:]
		}
		for i := range near {
			all = append(all, Subject{label, near, i, asked})
		}
	}
	for line := range strings.Lines(askList) {
		if label, whole, named := strings.Cut(strings.TrimSpace(line), ": "); named && label[0] != '#' {
			all = append(all, Subject{label, []string{whole}, 0, asIs[:]})
		}
	}
	return all
}

// question is one about a subject, in a form that chance takes.
func (s Subject) question(chance *rand.Rand) Sample {
	form := s.forms[chance.IntN(len(s.forms))]
	text := strings.Replace(form, "%s", s.line[s.at], 1)
	for strings.Contains(text, "%s") {
		text = strings.Replace(text, "%s", s.line[chance.IntN(len(s.line))], 1)
	}
	if s.Label != model.Reject && chance.IntN(4) == 0 {
		text = strings.TrimRight(text, "?.") + [...]string{" in C++", " in C++?", " in c++"}[chance.IntN(3)]
	}
	if chance.IntN(4) == 0 {
		text = strings.ToLower(text)
	}
	return Sample{Text: text, Label: s.Label, Source: fmt.Sprintf("octet/subjects/%d", chance.IntN(topics))}
}
