package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"octet/engine"
	"octet/internal/http1/client"
)

// Each error of the transport is one of the gateway's, and that one alone; what it was made of is still found in it.
func TestTheTransportsErrorsAreTheGatewaysInOtherWords(t *testing.T) {
	for _, f := range faults {
		err := fault(fmt.Errorf("%w: within the body: %w", f.of, io.ErrClosedPipe))
		if want := f.is.Error() + ": within the body: io: read/write on closed pipe"; err.Error() != want {
			t.Errorf("says %q, want %q", err, want)
		}
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v has lost its cause", err)
		}
		for _, g := range faults {
			if errors.Is(err, g.is) != (f == g) {
				t.Errorf("%v is %v: %v", err, g.is, f != g)
			}
		}
	}
	for _, err := range []error{io.EOF, context.Canceled, fmt.Errorf("%w: %w", context.DeadlineExceeded, io.EOF)} {
		if got := fault(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

func TestErrorsSayWhatHappenedInWords(t *testing.T) {
	c := dialUp(t, Config{URL: handle(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })})
	_, err := c.Do(t.Context(), &engine.Request{Method: "GET", Path: "/"})
	if want := "engine: connection lost before any answer: EOF"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, engine.ErrConnect) || !errors.Is(err, engine.ErrReset) || !errors.Is(err, client.ErrReset) {
		t.Errorf("%v is the wrong kind", err)
	}
	if _, err := New(Config{URL: "ftp://h"}); !errors.Is(err, ErrConfig) ||
		err.Error() != `openai: unusable configuration: "ftp://h": the scheme must be http or https` {
		t.Errorf("got %v", err)
	}
}
