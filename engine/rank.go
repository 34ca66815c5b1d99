package engine

import "strconv"

// Rank is one data-parallel rank of an engine that has several behind one URL, each with a scheduler and a KV cache of
// its own. The zero Rank is none: the engine is one, or it spreads requests over its ranks itself.
type Rank struct{ next uint16 } // the number, plus one

// MaxRank is the largest number of a Rank.
const MaxRank = 1023

// RankOf returns the rank of that number, counted from zero; the zero Rank for nil and for numbers that are none.
func RankOf(number *int) Rank {
	if number == nil || *number < 0 || *number > MaxRank {
		return Rank{}
	}
	return Rank{uint16(*number) + 1}
}

// Number returns the number of the rank; false for the zero Rank.
func (r Rank) Number() (int, bool) { return int(r.next) - 1, r.next > 0 }

// Pointer returns the number of the rank; nil for the zero Rank.
func (r Rank) Pointer() *int {
	n, ok := r.Number()
	if !ok {
		return nil
	}
	return &n
}

// String returns the number in digits; "" for the zero Rank.
func (r Rank) String() string {
	n, ok := r.Number()
	if !ok {
		return ""
	}
	return strconv.Itoa(n)
}

// Ranking is how engines of a kind are told which of their ranks is to take a request. The zero Ranking: they cannot
// be.
type Ranking struct {
	Header string // header field with the number, of every request
	Member string // member of the body with the number
	Met    string // member that says to the engine that decodes which rank computes the prompt
}

// Ranked returns true if requests can name a rank.
func (r Ranking) Ranked() bool { return r.Header != "" || r.Member != "" }
