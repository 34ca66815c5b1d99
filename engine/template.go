package engine

// Message is one turn of a chat. The text parts of a content that came in parts stand in Content joined with newlines.
type Message struct {
	Role    string
	Content string
}

// Ending says how a rendered chat ends.
type Ending uint8

// The endings of a rendered chat.
const (
	OpenAnswer   Ending = iota // the assistant's turn is open and empty: the model answers
	ContinueLast               // the last message is left open: the model goes on with it
	Closed                     // every turn is closed: nothing is asked of the model
)

// RenderChat appends the prompt text of a chat to dst:
//
//	<|role|>
//	content<|end|>
//
// for each message, and what ending says after them. Content is put in as it is: it may hold the template's own marks,
// and then means what it says.
func RenderChat(dst []byte, messages []Message, ending Ending) []byte {
	for i, m := range messages {
		dst = OpenTurn(dst, m.Role)
		dst = append(dst, m.Content...)
		if ending != ContinueLast || i < len(messages)-1 {
			dst = CloseTurn(dst)
		}
	}
	if ending == OpenAnswer {
		dst = OpenTurn(dst, "assistant")
	}
	return dst
}

// OpenTurn appends what stands before a message of role. With CloseTurn it renders a chat that is at hand in another
// form.
func OpenTurn(dst []byte, role string) []byte {
	dst = append(dst, "<|"...)
	dst = append(dst, role...)
	return append(dst, "|>\n"...)
}

// CloseTurn appends what stands after a message.
func CloseTurn(dst []byte) []byte { return append(dst, "<|end|>\n"...) }
