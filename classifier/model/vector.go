package model

import "slices"

// Reader turns texts into what training sees of them, the same that a Model sees. It is used by one goroutine.
type Reader struct {
	concepts *concepts
	desk     desk
}

// Vector is a text as a model's inputs.
type Vector struct {
	Keys   []uint32  // of the hashed features, ascending, each once
	Values []float32 // 1 + log of how often each was seen
	Inputs []int     // dense inputs that are not 0
	Levels []float32 // their values
}

// NewReader reads a list of concepts. Errors wrap ErrConcepts.
func NewReader(list string) (*Reader, error) {
	c, err := parseConcepts(list)
	if err != nil {
		return nil, err
	}
	return &Reader{concepts: c, desk: desk{notes: newNotes(c)}}, nil
}

// Dense is the number of dense inputs.
func (r *Reader) Dense() int { return r.concepts.dense() }

// Vector reads a text.
func (r *Reader) Vector(text string) Vector {
	n := r.desk.notes
	n.begin()
	n.read(string(r.desk.excerpt([]byte(text))), r.concepts)
	n.count(r.concepts)
	v := counted(n.keys)
	n.each(r.concepts, func(input int, level float32) {
		v.Inputs, v.Levels = append(v.Inputs, input), append(v.Levels, level)
	})
	return v
}

// Sections cuts a text as a Model does before it leaves courtesy out, and returns the features of those that may be it.
func (r *Reader) Sections(text string) (prose []Vector) {
	n := r.desk.notes
	n.begin()
	n.read(string(r.desk.excerpt([]byte(text))), r.concepts)
	n.kept(func(from, to *section) {
		if to.prose {
			prose = append(prose, counted(n.keys[from.keys:to.keys]))
		}
	})
	return prose
}

// counted is a vector of keys alone.
func counted(keys []uint32) (v Vector) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	for i := 0; i < len(keys); {
		end := i + 1
		for end < len(keys) && keys[end] == keys[i] {
			end++
		}
		v.Keys = append(v.Keys, keys[i])
		v.Values = append(v.Values, 1+logOf(uint32(end-i)))
		i = end
	}
	return v
}
