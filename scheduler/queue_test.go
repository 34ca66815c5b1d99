package scheduler

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type ticketless struct{ at int }

func (t *ticketless) queueIndex() *int { return &t.at }

// The queue gives what sorting gives, whatever came and went in between.
func TestQueueServesInRankOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue[*ticketless]
		ranks := map[*ticketless]rank{}
		sorted := []*ticketless{}
		for id := range uint64(rapid.IntRange(1, 200).Draw(t, "steps")) {
			switch op := rapid.IntRange(0, 4).Draw(t, "op"); {
			case op < 3:
				item := &ticketless{}
				r := rank{rapid.IntRange(-2, 2).Draw(t, "priority"), Time(rapid.IntRange(0, 9).Draw(t, "arrival")), id}
				if op == 1 {
					r = r.reversed()
				}
				ranks[item] = r
				q.push(r, item)
				at, _ := slices.BinarySearchFunc(sorted, r, func(s *ticketless, r rank) int {
					if ranks[s].before(r) {
						return -1
					}
					return 1
				})
				sorted = slices.Insert(sorted, at, item)
			case len(sorted) == 0:
			case op == 3:
				if got := q.pop(); got != sorted[0] || got.at != -1 {
					t.Fatalf("popped %v, want %v", ranks[got], ranks[sorted[0]])
				}
				sorted = sorted[1:]
			default:
				i := rapid.IntRange(0, len(sorted)-1).Draw(t, "which")
				q.remove(sorted[i])
				sorted = slices.Delete(sorted, i, i+1)
			}
			if err := q.check(); err != nil {
				t.Fatal(err)
			}
			if q.len() != len(sorted) || q.len() > 0 && (q.top() != sorted[0] || q.topRank() != ranks[sorted[0]]) {
				t.Fatalf("%d queued, want %d", q.len(), len(sorted))
			}
		}
	})
}

func TestReversedRankTurnsTheOrderRound(t *testing.T) {
	ranks := []rank{{1, 5, 9}, {0, 3, 1}, {0, 3, 2}, {0, 4, 0}, {-1, 0, 0}}
	for i, a := range ranks {
		for j, b := range ranks {
			if a.before(b) != (i < j) || a.reversed().before(b.reversed()) != (i > j) {
				t.Errorf("%v and %v", a, b)
			}
		}
	}
}
