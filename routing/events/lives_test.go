package events

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// diary is Lives that writes down what it is told.
type diary []string

func (d *diary) Ended(replica string, at time.Time) {
	*d = append(*d, fmt.Sprint(replica, " ended ", at.Unix()))
}

func (d *diary) Began(replica string) { *d = append(*d, replica+" began") }

// A Shutdown is told once, from the batch that is applied, and the next life with its first batch, however early that
// comes. What is repeated, or of an earlier life, tells nothing. MOD2-45, MOD2-16
func TestAShutdownIsToldAndSoIsTheNextLife(t *testing.T) {
	f := NewFeed(newIndex(t, 4), hasher, only("e", debug0))
	var d diary
	f.Tell(&d)
	at := time.Unix(1_700_000_000, 0)
	end := func(epoch, seq uint64) Batch {
		return Batch{Replica: "e", Epoch: epoch, Seq: seq, At: at, Events: []Event{{Kind: Shutdown}}}
	}
	say := func(b Batch, want ...string) {
		t.Helper()
		f.Deliver(b)
		if !slices.Equal(d, want) {
			t.Fatalf("after batch %d of epoch %d: %q, want %q", b.Seq, b.Epoch, []string(d), want)
		}
		d = nil
	}
	say(Batch{Replica: "e", Epoch: 5, Seq: 1, Events: []Event{{Kind: Cleared}}})
	say(end(5, 2), "e ended 1700000000")
	say(end(5, 2))
	say(end(4, 9))
	say(Batch{Replica: "e", Epoch: 5, Seq: 3, Events: []Event{{Kind: Cleared}}}) // of the life that ends
	say(Batch{Replica: "e", Epoch: 6, Seq: 2, Events: []Event{{Kind: Cleared}}}, "e began")
	say(Batch{Replica: "e", Epoch: 6, Seq: 1, Events: []Event{{Kind: Cleared}}})
	say(Batch{Replica: "e", Epoch: 7, Seq: 1, Events: []Event{{Kind: Cleared}}}) // none was announced
}
