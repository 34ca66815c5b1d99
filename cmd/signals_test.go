package cmd

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Each gateway of the process has its word as a second signal stops it, and one that cannot be said does not hold that
// up.
func TestASecondSignalLetsEachGatewayHaveItsWord(t *testing.T) {
	words := new(lastWords)
	ctx := context.WithValue(t.Context(), lastWordsKey{}, words)
	var said []string
	sayLast(t.Context(), func() { said = append(said, "of another process") })
	sayLast(ctx, func() { said = append(said, "a") })
	sayLast(ctx, func() { said = append(said, "b") })
	words.say(time.Minute)
	if !slices.Equal(said, []string{"a", "b"}) {
		t.Errorf("said: %q", said)
	}
	never := make(chan struct{})
	defer close(never)
	sayLast(ctx, func() { <-never })
	words.say(time.Millisecond) // or the test does not end
}
