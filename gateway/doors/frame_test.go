package doors

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// teller notes what it is told to spell.
type teller struct{ told []string }

func (s *teller) Begin(k *Chunk)   { s.told = append(s.told, fmt.Sprintf("begin %s", k.ID)) }
func (s *teller) Open(call *Call)  { s.told = append(s.told, fmt.Sprint("open ", call != nil)) }
func (s *teller) Piece(raw []byte) { s.told = append(s.told, fmt.Sprintf("%q", raw)) }
func (s *teller) Close()           { s.told = append(s.told, "close") }

// said is what is spelt of a chunk that follows on first, read in its frame or not.
func said(first, second string, framed bool) string {
	var b Blocks
	s := new(teller)
	errs := fmt.Sprint(b.event([]byte(first), s))
	if !framed {
		b.usual = frame{}
	}
	errs += fmt.Sprint(b.event([]byte(second), s))
	return fmt.Sprintf("%s %s %s %+v", strings.Join(s.told, " "), errs, b.Finish, b.Usage)
}

// Whatever is changed of a chunk, it says in the frame of the one before what it says alone.
func TestAChunkInTheUsualFrameSaysWhatItSaysAlone(t *testing.T) {
	puts := []string{"", `"`, `\`, `\n`, `\u00`, `\ud800`, "\x00", "\xff", "x", `","content":"y`, "}", " "}
	for _, first := range []string{
		`{"id":"c","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`,
		`{"choices":[{"delta":{"content":"a","refusal":null,"content":"b\n"}}],"x":"content"} `,
		`{"choices":[{"delta":{"content":"a","tool_calls":[{"function":{"name":"f"}}]}}]}`,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[{"delta":{"content":"a","reasoning":"b"}}]}`,
		`{"choices":[{"delta":{"content":""}}]}`,
	} {
		seconds := []string{first}
		for i := range first {
			for _, put := range puts {
				seconds = append(seconds, first[:i]+put+first[i:], first[:i]+put+first[i+1:])
			}
		}
		for _, second := range seconds {
			if got, want := said(first, second, true), said(first, second, false); got != want {
				t.Fatalf("behind %s\n%s\nsays %s\nnot  %s", first, second, got, want)
			}
		}
	}
}

func TestTheUsualChunkIsNotRead(t *testing.T) {
	const chunk = `{"id":"c","choices":[{"index":0,"delta":{"content":"%s"},"finish_reason":null}]}`
	var b Blocks
	s := new(teller)
	for _, text := range []string{"a", "b"} {
		if err := b.event(fmt.Appendf(nil, chunk, text), s); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(b.chunk.Text, []byte("a")) || s.told[len(s.told)-1] != `"b"` {
		t.Errorf("%q was read last, and %q said", b.chunk.Text, s.told)
	}
}
