package engine

import "strings"

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

// ParseChat returns the messages of a chat as RenderChat renders it, or false if text does not begin as one. An open
// turn without content is left out. A mark inside a message is content unless a turn, or nothing, stands behind it.
func ParseChat(text string) (messages []Message, is bool) {
	role, rest, open := opened(text)
	if !open {
		return nil, false
	}
	for open {
		content, after := closing(rest)
		if after != "" || content != "" {
			messages = append(messages, Message{role, content})
		}
		role, rest, open = opened(after)
	}
	return messages, true
}

// closing returns the content of a turn, and what stands behind its end; all of text if the turn is open.
func closing(text string) (content, after string) {
	const end = "<|end|>\n"
	for at := 0; ; {
		next := strings.Index(text[at:], end)
		if next < 0 {
			return text, ""
		}
		at += next
		after = text[at+len(end):]
		if _, _, another := opened(after); another || after == "" {
			return text[:at], after
		}
		at += len(end)
	}
}

// opened returns the role of the turn that text opens, and what stands behind its mark.
func opened(text string) (role, rest string, is bool) {
	const longest = 32 // bytes of a role and its mark
	after, is := strings.CutPrefix(text, "<|")
	if !is {
		return "", "", false
	}
	role, _, is = strings.Cut(after[:min(len(after), longest)], "|>\n")
	if !is || role == "" || role == "end" || strings.ContainsAny(role, " \n<|>") {
		return "", "", false
	}
	return role, after[len(role)+len("|>\n"):], true
}
