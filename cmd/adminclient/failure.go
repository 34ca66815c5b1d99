package adminclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"octet/gateway/apierr"
)

// The kinds of a Failure.
var (
	ErrAddress = errors.New("no address of an admin listener")
	ErrDown    = errors.New("the admin listener does not answer") // refused, timed out, broken off
	ErrToken   = errors.New("the admin token is wrong or missing")
	ErrUnknown = errors.New("there is no such thing") // 404: a replica, a knob, a receipt
	ErrRefused = errors.New("the gateway refuses")    // every other refusal
	ErrAnswer  = errors.New("not the answer of an admin listener")
)

// Failure is why a call came to nothing. It is a kind by errors.Is.
type Failure struct {
	Kind    error
	Status  int         // HTTP's; 0 if there was no answer
	Code    apierr.Code // the gateway's; "" if there was none
	Message string      // one line, harmless to a terminal
	Cause   error       // nil if there is none
}

func (f *Failure) Error() string { return f.Message }

// Unwrap returns the kind and the cause.
func (f *Failure) Unwrap() []error {
	if f.Cause == nil {
		return []error{f.Kind}
	}
	return []error{f.Kind, f.Cause}
}

// refusal is the failure of a request that was answered with an error.
func (c *Client) refusal(status int, answer []byte) *Failure {
	var said struct {
		Error struct {
			Message string      `json:"message"`
			Code    apierr.Code `json:"code"`
		} `json:"error"`
	}
	err := json.Unmarshal(answer, &said)
	if err != nil || said.Error.Code == "" || nothingAt(said.Error.Code, said.Error.Message) {
		return &Failure{Kind: ErrAnswer, Status: status, Cause: err,
			Message: fmt.Sprintf("%s answers with status %d, but not as a gateway's admin listener does", c.URL(),
				status)}
	}
	f := &Failure{Kind: ErrRefused, Status: status, Code: said.Error.Code, Message: Plain(said.Error.Message)}
	switch {
	case status == http.StatusUnauthorized && c.token == "":
		f.Kind, f.Message = ErrToken, fmt.Sprintf("%s wants a token: set %s", c.URL(), TokenVar)
	case status == http.StatusUnauthorized:
		f.Kind, f.Message = ErrToken, fmt.Sprintf("%s does not know the token of %s", c.URL(), TokenVar)
	case status == http.StatusNotFound:
		f.Kind = ErrUnknown
	}
	return f
}

// nothingAt reports whether an answer is that of a listener without such a path, as a gateway's data listener gives it.
// Where the path ends with a slash, it is the name behind it that is empty.
func nothingAt(code apierr.Code, message string) bool {
	return code == apierr.RouteNotFound && strings.HasPrefix(message, apierr.NothingAt) &&
		!strings.HasSuffix(message, "/")
}

// Plain returns s on one line and without what a terminal would obey: each control or format character is a "?".
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
