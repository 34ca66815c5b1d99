package doorstest

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// FuzzChat checks that whatever a body holds, it becomes one strict body of at most 100 times its size, or a typed
// error.
func FuzzChat(f *testing.F, door doors.Door, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, answer, err := Translate(door, in)
		var bad *wire.Error
		switch {
		case err == nil && (answer == nil || !wire.Valid(out, 128)):
			t.Errorf("%q became %q", in, out)
		case err == nil && len(out) > 100*len(in):
			t.Errorf("%d bytes became %d", len(in), len(out))
		case err != nil && (!errors.As(err, &bad) || bad.Code == "" || bad.Message == ""):
			t.Errorf("%q: %v", in, err)
		}
	})
}

// FuzzEvents checks that whatever an engine sends, what is made of it is a stream of the grammar with one good end, or
// an error.
func FuzzEvents(f *testing.F, begin func() doors.Answer, grammar func(stream string) error, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(string(seed))
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !wire.Valid([]byte(`"`+strings.NewReplacer(`"`, "", `\`, "", "\n", "").Replace(in)+`"`), 1) {
			return // an engine's UTF-8 is relayed, and encoding/json judges it
		}
		a := begin()
		out, err := a.Events([]byte(in))
		if err != nil {
			if !errors.Is(err, doors.ErrChunk) {
				t.Error(err)
			}
			return
		}
		if len(out) == 0 {
			return
		}
		all := string(out)
		all += string(a.Done())
		if err := grammar(all); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if len(all) > 100*len(in)+4000 {
			t.Errorf("%d bytes became %d", len(in), len(all))
		}
	})
}

// ThereAndBack checks that a body of the supported subset, as a chat completion and back, says the same, that the order
// of its members does not matter, and that it is refused with one member that nothing is known of, by that member's
// name. back is the slow, obvious reverse.
func ThereAndBack(t *rapid.T, door doors.Door, body map[string]any, back func(chat map[string]any) map[string]any) {
	sent := marshal(t, body)
	out, _, err := Translate(door, string(sent))
	if err != nil {
		t.Fatalf("%s: %v", sent, err)
	}
	var chat, given, want map[string]any
	err = errors.Join(json.Unmarshal(out, &chat), json.Unmarshal(out, &given), json.Unmarshal(sent, &want))
	if err != nil {
		t.Fatal(err)
	}
	if got := back(given); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s\nbecame %s\nand came back as %v", sent, out, got)
	}
	sent = inAnyOrder(t, body)
	if out, _, err = Translate(door, string(sent)); err != nil {
		t.Fatalf("%s: %v", sent, err)
	}
	var again map[string]any
	if err := json.Unmarshal(out, &again); err != nil || !reflect.DeepEqual(again, chat) {
		t.Fatalf("%s\nbecame %s (%v)\nand in another order %v", sent, out, err, chat)
	}
	body["x_unknown"] = 1
	sent = marshal(t, body)
	var bad *wire.Error
	if _, _, err := Translate(door, string(sent)); !errors.As(err, &bad) || bad.Param != "x_unknown" {
		t.Fatalf("%s: %v", sent, err)
	}
}

func marshal(t *rapid.T, body map[string]any) []byte {
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// inAnyOrder spells a value with the members of its objects in an order that is drawn.
func inAnyOrder(t *rapid.T, value any) []byte {
	var out []byte
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		for i, name := range rapid.Permutation(names).Draw(t, "order") {
			out = append(out, "{,"[min(i, 1)])
			out = append(strconv.AppendQuote(out, name), ':')
			out = append(out, inAnyOrder(t, v[name])...)
		}
		if len(v) == 0 {
			out = []byte("{")
		}
		return append(out, '}')
	case []any:
		for i, element := range v {
			out = append(append(out, "[,"[min(i, 1)]), inAnyOrder(t, element)...)
		}
		if len(v) == 0 {
			out = []byte("[")
		}
		return append(out, ']')
	}
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
