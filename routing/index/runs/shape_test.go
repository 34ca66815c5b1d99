package runs

import (
	"math/rand/v2"
	"testing"

	"octet/routing/index"
)

// matrix is the slow, obvious shape.
type matrix [6][]bool

func (m *matrix) set(h index.HostID, from, to int, held bool) (changed int) {
	for i := from; i < to; i++ {
		if m[h][i] != held {
			m[h][i] = held
			changed++
		}
	}
	return changed
}

func (m *matrix) equals(t *testing.T, s *holders) {
	t.Helper()
	if s.len == 0 {
		return
	}
	got := newMatrix(s.len)
	s.each(func(h index.HostID, from, to int) {
		if got.set(h, from, to, true) != to-from {
			t.Fatalf("host %d has %d to %d twice in %+v", h, from, to, s)
		}
	})
	for h := range m {
		reach := 0
		for i := range s.len {
			if got[h][i] != m[h][i] {
				t.Fatalf("host %d, block %d: %v in %+v", h, i, got[h][i], s)
			}
			if m[h][i] && reach == i {
				reach++
			}
		}
		if s.reach(index.HostID(h)) != reach {
			t.Fatalf("host %d reaches %d, want %d, in %+v", h, s.reach(index.HostID(h)), reach, s)
		}
	}
}

func newMatrix(n int) (m matrix) {
	for h := range m {
		m[h] = make([]bool, n)
	}
	return m
}

func (m *matrix) gaps(from, to int) (gaps []span) {
	for i := from; i < to; i++ {
		held := false
		for h := range m {
			held = held || m[h][i]
		}
		switch n := len(gaps); {
		case held:
		case n > 0 && gaps[n-1].to == i:
			gaps[n-1].to++
		default:
			gaps = append(gaps, span{i, i + 1})
		}
	}
	return gaps
}

// MOD2-38, MOD2-44
func TestShapeHoldsAnySetOfFacts(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		n := 1 + rng.IntN(30)
		s, m := &holders{len: n}, newMatrix(n)
		for range 40 {
			h, from := index.HostID(rng.IntN(len(m))), rng.IntN(n)
			to := from + 1 + rng.IntN(n-from)
			hold := rng.IntN(2) == 0
			want := m.set(h, from, to, hold)
			var got int
			if hold {
				got = s.hold(h, from, to)
			} else {
				got = s.drop(h, from, to)
			}
			if got != want {
				t.Fatalf("seed %d: %v of %d to %d changed %d blocks, want %d", seed, hold, from, to, got, want)
			}
			m.equals(t, s)
			gaps := s.gaps(from, to, nil)
			if want := m.gaps(from, to); len(gaps) != len(want) || len(gaps) > 0 && gaps[0] != want[0] {
				t.Fatalf("seed %d: gaps %v, want %v", seed, gaps, want)
			}
		}
		cutInTwo(t, rng, s, m)
	}
}

func cutInTwo(t *testing.T, rng *rand.Rand, s *holders, m matrix) {
	if s.len < 2 {
		return
	}
	at := 1 + rng.IntN(s.len-1)
	tail := &holders{prefixes: []prefix{{9, 9}}, fragments: []fragment{{9, 9, 9}}}
	s.cut(at, tail)
	front, back := m, m
	for h := range m {
		front[h], back[h] = m[h][:at], m[h][at:]
	}
	front.equals(t, s)
	back.equals(t, tail)
	var lost [index.MaxHosts]int
	s.truncate(1, &lost)
	for h := range front {
		for _, held := range front[h][1:] {
			if held {
				lost[h]--
			}
		}
		if lost[h] != 0 {
			t.Fatalf("host %d: lost count is off by %d", h, lost[h])
		}
	}
	front.equals(t, s)
	tail.dropHosts(index.HostSet(0, 1, 2), &lost)
	if tail.heldByAny(index.HostSet(0, 1, 2)) {
		t.Fatal("expelled, and still there")
	}
	for h := range 3 {
		back.set(index.HostID(h), 0, len(back[h]), false)
	}
	back.equals(t, tail)
}
