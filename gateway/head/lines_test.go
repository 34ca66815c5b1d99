package head

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func FuzzAFieldIsWrittenAsNetHTTPWritesIt(f *testing.F) {
	for _, v := range []string{"", " ", "a", "\r\n", " a\r\nX: b \t", "\x00\x7f", "é", "a\rb\nc\r\nd", "\n\n a \r\r"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var want strings.Builder
		if err := (http.Header{"X-Name": {value}}).Write(&want); err != nil {
			t.Fatal(err)
		}
		if got := string(Lines(nil).Text("X-Name: ", value)); got != want.String() {
			t.Errorf("%q: %q, want %q", value, got, want.String())
		}
		if h := (http.Header{}); len(Lines(nil).Text("X-Name: ", value)) > 0 {
			Lines(nil).Text("X-Name: ", value).Number("X-Number: ", -7).Into(h)
			if len(h) != 2 || h["X-Number"][0] != "-7" {
				t.Errorf("%q: %v", value, h)
			}
		}
	})
}

func TestNumbersOfAHeadAreSpeltInFull(t *testing.T) {
	for n := -12; n < 12_000; n++ {
		if got, want := string(Lines(nil).Number("N: ", n)), "N: "+strconv.Itoa(n)+"\r\n"; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}
