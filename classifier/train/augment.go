package train

import (
	"math/rand/v2"
	"strings"
)

// asked are what people write around code when they ask for something: they say nothing of what it is about.
var asked = [...]string{
	"Can you explain this code to me?\n\n%s", "What does the following do?\n\n%s",
	"Please review this:\n\n```cpp\n%s\n```\n",
	"Fix this.\n\n%s", "I don't understand why this fails, could you help me?\n\n%s",
	"Refactor the code below so that it is easier to read.\n%s",
	"Here is what I have so far:\n\n```\n%s\n```\nWhat should I change?", "%s\n\nWhat is wrong here?",
	"%s\n\nPlease explain it step by step.",
	"I am working on a project and found this. Is it correct?\n\n%s", "Add comments to this:\n\n%s",
	"Hello, I would like to know how this works.\n\n%s\n\nThanks!",
	"How would you improve this?\n```c++\n%s\n```", "Document the following.\n\n%s",
	"You are a helpful assistant. Answer the question about this text.\n\n%s",
	"Write a test for this:\n\n%s", "My colleague wrote this and I need to change it. Where do I start?\n\n%s",
	"Summarise:\n%s",
	"Is there a bug in it? I have looked at it for hours and can't see one.\n\n%s", "Continue this:\n\n%s",
	"Good morning! I have been looking at this for a while and I am stuck. Could you tell me what is going on " +
		"here?\n\n%s",
	"We found the following in our code base and nobody knows why it is there. Can it be removed?\n\n%s\n\nThank you " +
		"in advance.",
	"I have to present this to my team tomorrow. What are the main points that I should make about it?\n\n%s",
	"What are the advantages and disadvantages of doing it like this, and what would you do instead?\n\n%s",
	"Is this good style? %s",
	"Hey, quick question: what happens when I run this?\n```\n%s\n```",
	"I get strange results from the code that follows, any idea why?\n\n%s",
	"So I found this online and pasted it in, but I honestly have no clue what it is for.\n\n%s\n\nAny help is much " +
		"appreciated!!",
	"%s\n\n^ is that right? I always thought you should never do it this way, but maybe I am wrong.",
	"Our new hire asked me about the part below and I could not really answer him. How would you put it in simple " +
		"words?\n\n%s",
	"tl;dr it worked yesterday and today it does not. What has changed?\n%s",
	"ok so here is the thing:\n\n```\n%s\n```\n\nwhat now?",
	"Sorry for the long post. I am a beginner, so please be patient with me :)\n\n%s\n\nWhat would be the best way " +
		"to go on from here?",
	"Before I open a ticket I wanted to ask if somebody has seen this before.\n\n%s\n\nCheers",
	"Is there a shorter way to say the same?\n%s",
	"I am preparing for an interview and came across this one. Could you walk me through it, line by line?\n\n%s",
	"%s\n\nDoes it matter in practice, or is it just a matter of taste? I would like to hear both sides.",
	"We are thinking of getting rid of the following. What could go wrong if we did?\n\n%s",
	"Rewrite it, please, and tell me why yours is better.\n\n```cpp\n%s\n```",
	"Hi there, hope you are well! Quick one: who should take a look at this?\n%s\nMany thanks and have a nice weekend",
	"Which parts of this are the hardest to get right? %s",
	"The reviewer left the comment \"not sure about this\" and nothing else. What might he mean?\n\n%s",
	"Give me three things that I should know about this.\n\n%s",
	"You are an expert. Think before you answer, keep it brief, and do not make things up.\n\nUser: %s\n\nAssistant:",
	"Let us look at it together. First, what do you see here? Then, what would you try next?\n\n%s",
	"%s\n\nPlease answer in a few sentences.",
	"It is late and I need to have this done by tomorrow morning. Can you just tell me what to do with it?\n\n%s",
	"My teacher says that this is fine, a friend of mine says that it is not. Who is right?\n\n%s\n\nIf it depends, " +
		"then on what?",
}

// Shares of the samples that are seen once more, wrapped in a question or cut to a fragment.
const (
	wrapped = 0.35
	cut     = 0.25
)

// augment appends copies of some samples as they would be met in requests: with a question around them, or in part.
// Labels and sources stay.
func augment(samples []Sample, seed uint64) []Sample {
	chance := rand.New(rand.NewPCG(seed, 1))
	for _, s := range samples[:len(samples):len(samples)] {
		switch dice := chance.Float64(); {
		case dice < wrapped:
			question := asked[chance.IntN(len(asked))]
			s.Text = wrap(question, s.Text)
		case dice < wrapped+cut:
			from := chance.IntN(len(s.Text)/3 + 1)
			s.Text = s.Text[from : len(s.Text)-chance.IntN(len(s.Text)/3+1)]
		default:
			continue
		}
		samples = append(samples, s)
	}
	return samples
}

// wrap puts a text into a question's place for it.
func wrap(question, text string) string { return strings.Replace(question, "%s", text, 1) }
