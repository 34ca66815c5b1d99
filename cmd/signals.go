package cmd

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// untilSignal returns a context that ends with the first SIGTERM or SIGINT. The second stops the process at once, with
// what lastWords were given through the context.
func untilSignal() (context.Context, func()) {
	words := new(lastWords)
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), lastWordsKey{}, words))
	signals := make(chan os.Signal, 2) // one to drain, one to stop
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		cancel()
		<-signals
		words.say(lastWordsFor)
		os.Exit(exitFailed)
	}()
	return ctx, cancel
}

// lastWordsFor bounds what is said before the process stops: a log that nothing reads holds up no stop.
const lastWordsFor = 100 * time.Millisecond

// lastWords are what the gateways of this process say as a second signal stops it. Safe for concurrent use.
type lastWords struct {
	mu  sync.Mutex
	all []func() // guarded by mu
}

// lastWordsKey is the key of the process' lastWords in the context of a command; a context without them is a test's.
type lastWordsKey struct{}

// say has all be said, and returns after most at the latest.
func (l *lastWords) say(most time.Duration) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, word := range l.all {
			word()
		}
	}()
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-said:
	case <-late.C:
	}
}

// sayLast adds a word to those of the context's process.
func sayLast(ctx context.Context, word func()) {
	words, ok := ctx.Value(lastWordsKey{}).(*lastWords)
	if !ok {
		return
	}
	words.mu.Lock()
	defer words.mu.Unlock()
	words.all = append(words.all, word)
}
