package queue

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"octet/scheduler"
)

type ticketless struct{ at int }

func (t *ticketless) HeapIndex() *int { return &t.at }

// The queue gives what sorting gives, whatever came and went in between.
func TestQueueServesInRankOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Heap[*ticketless]
		ranks := map[*ticketless]Rank{}
		sorted := []*ticketless{}
		for id := range uint64(rapid.IntRange(1, 200).Draw(t, "steps")) {
			switch op := rapid.IntRange(0, 4).Draw(t, "op"); {
			case op < 3:
				item := &ticketless{}
				r := Rank{rapid.IntRange(-2, 2).Draw(t, "priority"),
					scheduler.Time(rapid.IntRange(0, 9).Draw(t, "arrival")), id}
				if op == 1 {
					r = r.Reversed()
				}
				ranks[item] = r
				q.Push(r, item)
				at, _ := slices.BinarySearchFunc(sorted, r, func(s *ticketless, r Rank) int {
					if ranks[s].Before(r) {
						return -1
					}
					return 1
				})
				sorted = slices.Insert(sorted, at, item)
			case len(sorted) == 0:
			case op == 3:
				if got := q.Pop(); got != sorted[0] || got.at != -1 {
					t.Fatalf("popped %v, want %v", ranks[got], ranks[sorted[0]])
				}
				sorted = sorted[1:]
			default:
				i := rapid.IntRange(0, len(sorted)-1).Draw(t, "which")
				q.Remove(sorted[i])
				sorted = slices.Delete(sorted, i, i+1)
			}
			if err := q.Check(); err != nil {
				t.Fatal(err)
			}
			if q.Len() != len(sorted) || q.Len() > 0 && (q.Top() != sorted[0] || q.TopRank() != ranks[sorted[0]]) {
				t.Fatalf("%d queued, want %d", q.Len(), len(sorted))
			}
		}
	})
}

func TestReversedRankTurnsTheOrderRound(t *testing.T) {
	ranks := []Rank{{1, 5, 9}, {0, 3, 1}, {0, 3, 2}, {0, 4, 0}, {-1, 0, 0}}
	for i, a := range ranks {
		for j, b := range ranks {
			if a.Before(b) != (i < j) || a.Reversed().Before(b.Reversed()) != (i > j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}
