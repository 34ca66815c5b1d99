package wire

import "fmt"

// Codes that a body can earn. The first four are faults of syntax and outrank the rest.
const (
	CodeInvalidJSON          = "invalid_json"
	CodeDuplicateKey         = "duplicate_key"
	CodeTooDeep              = "json_too_deep"
	CodeInvalidUTF8          = "invalid_utf8"
	CodeInvalidRequest       = "invalid_request"
	CodeUnsupportedParameter = "unsupported_parameter"
	CodeMissingParameter     = "missing_required_parameter"
	CodeInvalidValue         = "invalid_value"
	CodeUnsupportedContent   = "unsupported_content"
)

// Error says why a body is refused. It never quotes the body.
type Error struct {
	Code    string // one of the Code constants
	Param   string // path of the parameter, as messages[2].content[0].text; "" for a fault of syntax
	Message string // one sentence for people, without the path
	Offset  int    // where in the body, in bytes
}

func (e *Error) Error() string {
	if e.Param == "" {
		return fmt.Sprintf("wire: %s: %s at byte %d", e.Code, e.Message, e.Offset)
	}
	return fmt.Sprintf("wire: %s: %s %s at byte %d", e.Code, e.Param, e.Message, e.Offset)
}
