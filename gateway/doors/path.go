package doors

import (
	"fmt"
	"strconv"

	"octet/gateway/wire"
)

// pathTo returns the path of a value of a body, by its number.
func pathTo(body *wire.Tape, value int) string {
	var path []byte
	for at := 0; at != value; {
		i := 0
		items := body.Items(at)
		for items.Next() && !body.Holds(items.Value, value) {
			i++
		}
		path = appendStep(path, items.Name(), i)
		at = items.Value
	}
	return string(path)
}

func appendStep(path, name []byte, index int) []byte {
	switch {
	case name == nil:
		return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
	case len(path) > 0:
		path = append(path, '.')
	}
	return append(path, name...)
}

// MessageAt reads the path of something within a message of a chat completion: which message it is in.
func MessageAt(path string) (index int, ok bool) {
	rest := ""
	n, _ := fmt.Sscanf(path, "messages[%d]%s", &index, &rest)
	return index, n > 0 && index >= 0
}
