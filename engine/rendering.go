package engine

// Rendering is what engines of a kind put into the prompt of a chat beside its messages.
type Rendering struct {
	// Chosen: of the tools, those that tool_choice leaves: none for "none", one for a function's name. Otherwise the
	// prompt has all of them whatever the choice.
	Chosen bool
	Format bool // it has response_format; otherwise that binds the answer alone
	// Function are the members of a tool's function, in the order in which a chat template gets them; nil means that it
	// gets tools as they came. Others, and others of the tool, follow only if Others is set.
	Function []ToolMember
	Others   bool
}

// ToolMember is a member of a tool's function, and the JSON that stands for it where a tool has none.
type ToolMember = struct{ Name, Missing string }

// What the emulators' template puts around tools, a response_format and calls. Tools stand behind the text of a first
// message of the system's, with ToolsGap between, else in a turn of the system ahead of all messages. Calls stand
// behind the text of their message, each with CallGap before it where something stands there.
const (
	ToolsGap      = "\n\n"
	ToolsOpen     = "<tools>\n"
	ToolsShut     = "\n</tools>"
	FormatOpen    = "<response_format>\n"
	FormatShut    = "\n</response_format>"
	CallGap       = "\n"
	CallOpen      = "<tool_call>\n"
	CallShut      = "\n</tool_call>"
	CallName      = `{"name": `
	CallArguments = `, "arguments": `
)

// Call is a call of a tool in an assistant's message. Name and Arguments are JSON; a call without a Name is no call of
// a function, and Arguments are all of it.
type Call struct{ Name, Arguments string }

// AppendTools appends tools, as compact JSON, to the text of a message of the system's.
func AppendTools(text, tools []byte) []byte {
	if len(text) > 0 {
		text = append(text, ToolsGap...)
	}
	text = append(append(text, ToolsOpen...), tools...)
	return append(text, ToolsShut...)
}

// AppendCall appends a call to the text of an assistant's message.
func AppendCall(text []byte, c Call) []byte {
	if len(text) > 0 {
		text = append(text, CallGap...)
	}
	text = append(text, CallOpen...)
	if c.Name == "" {
		text = append(text, c.Arguments...)
	} else {
		text = append(append(text, CallName...), c.Name...)
		text = append(append(text, CallArguments...), c.Arguments...)
		text = append(text, '}')
	}
	return append(text, CallShut...)
}
