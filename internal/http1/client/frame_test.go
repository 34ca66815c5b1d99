package client

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// feed gives text to a frame in pieces of at most n bytes, and returns the body and how it ended: nil when it has not.
func feed(f frame, text []byte, n int) (body []byte, err error) {
	for len(text) > 0 && err == nil {
		part := text[:min(n, len(text))]
		text = text[len(part):]
		for len(part) > 0 && err == nil {
			var piece []byte
			var used int
			piece, used, err = f.take(part)
			body = append(body, piece...)
			part = part[used:]
		}
	}
	if err == nil {
		_, _, err = f.take(nil)
	}
	return body, err
}

var chunked = []struct {
	text, body string
	err        error
}{
	{"0\r\n\r\n", "", io.EOF},
	{"5\r\nhello\r\n0\r\n\r\n", "hello", io.EOF},
	{"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world", io.EOF},
	{"0005;a=b;c=\"d;e\"\r\nhello\r\n0;x\r\nX-Trailer: 1\r\nY:\r\n\r\n", "hello", io.EOF},
	{"A \t \r\n0123456789\r\n00\r\n\r\n", "0123456789", io.EOF},
	{"a\r\n0123456789\r\n", "0123456789", nil},
	{"2\r\n\r\n\r\n0\r\n\r\n", "\r\n", io.EOF},
	{"5\r\nhel", "hel", nil},
	{"5 ;a\r\nhello\r\n", "", ErrProtocol},
	{"5\r\nhello0\r\n\r\n", "hello", ErrProtocol},
	{"5\r\nhello\n\n0\r\n\r\n", "hello", ErrProtocol},
	{"5\r\nhello\r\r0\r\n\r\n", "hello", ErrProtocol},
	{"g\r\n", "", ErrProtocol},
	{" 5\r\nhello", "", ErrProtocol},
	{"-5\r\nhello", "", ErrProtocol},
	{"0x5\r\nhello", "", ErrProtocol},
	{"5;a\nb\r\nhello", "", ErrProtocol},
	{"0\r\n\n", "", ErrProtocol},
	{"0\r\n a: b\r\n\r\n", "", ErrProtocol},
	{"0\r\n: b\r\n\r\n", "", ErrProtocol},
	{"0\r\na: b\x00\r\n\r\n", "", ErrProtocol},
	{"7fffffffffffffff\r\nx", "x", nil},
	{"8000000000000000\r\nx", "", ErrProtocol},
}

// However the bytes are cut on their way, the body and its end are the same.
func TestChunksAreFoundHoweverTheBytesAreCut(t *testing.T) {
	for _, c := range chunked {
		for n := 1; n <= len(c.text); n++ {
			body, err := feed(frame{state: size}, []byte(c.text), n)
			if string(body) != c.body || !errors.Is(err, c.err) {
				t.Errorf("%q by %d: got %q %v, want %q %v", c.text, n, body, err, c.body, c.err)
			}
		}
	}
}

func FuzzFrameIsTheSameHoweverTheBytesAreCut(f *testing.F) {
	for i, c := range chunked {
		f.Add([]byte(c.text), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		whole, wholeErr := feed(frame{state: size}, text, len(text)+1)
		cut, cutErr := feed(frame{state: size}, text, int(n)+1)
		if !bytes.Equal(whole, cut) || (wholeErr == nil) != (cutErr == nil) || wholeErr != nil &&
			wholeErr.Error() != cutErr.Error() {
			t.Errorf("%q %v, by %d %q %v", whole, wholeErr, n, cut, cutErr)
		}
	})
}

func TestTakeNeverGivesBytesBeyondTheBody(t *testing.T) {
	f := frame{state: counted, left: 3}
	piece, used, err := f.take([]byte("abcdef"))
	if string(piece) != "abc" || used != 3 || err != nil {
		t.Errorf("got %q %d %v", piece, used, err)
	}
	if piece, used, err = f.take([]byte("def")); piece != nil || used != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("got %q %d %v", piece, used, err)
	}
}
