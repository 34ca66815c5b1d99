package lessons

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

const (
	passage = 5 // words
	marks   = 8 // passages of a text by which it is known: of two texts that share half of all, one in 250 misses it

	// A passage that more than so many texts have, and more than this share of them, is a preamble: it does not make
	// texts alike.
	commonTexts = 10
	commonShare = 0.1
)

// group gives lessons that share a mark, or begin one conversation, the name of one group.
func group(all []Lesson, openings map[string]string) {
	seen := map[uint64]int{} // passages, by texts that have them
	passages := make([][]uint64, len(all))
	for i := range all {
		passages[i] = passagesOf(all[i].Text)
		if opening := openings[all[i].Text]; opening != "" {
			passages[i] = append(passages[i], xxh3.HashString(opening))
		}
		slices.Sort(passages[i])
		passages[i] = slices.Compact(passages[i])
		for _, p := range passages[i] {
			seen[p]++
		}
	}
	most := max(commonTexts, int(commonShare*float64(len(all))))
	joined := sets(make([]int, len(all)))
	first := map[uint64]int{} // by mark: a lesson that has it
	for i := range all {
		joined[i] = i
		own := slices.DeleteFunc(passages[i], func(p uint64) bool { return seen[p] > most })
		known := own[:min(len(own), marks)]
		if opening := openings[all[i].Text]; opening != "" && seen[xxh3.HashString(opening)] <= most {
			known = append(slices.Clone(known), xxh3.HashString(opening))
		}
		for _, mark := range known {
			if at, there := first[mark]; there {
				joined.join(at, i)
			} else {
				first[mark] = i
			}
		}
	}
	for i := range all {
		all[i].Group = fmt.Sprintf("%016x", xxh3.HashString(all[joined.of(i)].Text))
	}
}

// passagesOf are the hashes of all runs of words in a text; of a shorter one the hash of all its words.
func passagesOf(text string) (hashes []uint64) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) < passage {
		return []uint64{xxh3.HashString(strings.Join(words, " "))}
	}
	for i := range len(words) - passage + 1 {
		hashes = append(hashes, xxh3.HashString(strings.Join(words[i:i+passage], " ")))
	}
	return hashes
}

// sets are disjoint sets of lessons: each one's, or that of a lower one of the same set.
type sets []int

func (s sets) of(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) {
	a, b = s.of(a), s.of(b)
	s[max(a, b)] = min(a, b)
}

// hold marks the lessons of a share of all groups, by a hash of their names, and returns how many lessons it marks.
func hold(all []Lesson, share float64, seed uint64) (held int) {
	for i := range all {
		h := xxh3.HashString(string(binary.LittleEndian.AppendUint64(nil, seed)) + all[i].Group)
		if all[i].Held = float64(h>>11)/(1<<53) < share; all[i].Held {
			held++
		}
	}
	return held
}
