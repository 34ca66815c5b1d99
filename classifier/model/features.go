package model

import "math"

// What each group and each literal of the concepts gives to the model, and how much it weighs beside the words.
const (
	slotKinds   = 0 // log of how many different terms were seen
	slotDensity = 1 // root of the share of all words
	slotAtLeast = 2 // two, three, four and more different ones: three slots
	slots       = 5 // a group

	weightOfConcepts = 0.3
	weightOfLiteral  = 0.3 * weightOfConcepts
)

// dense is the number of a model's inputs that are not hashed.
func (c *concepts) dense() int { return slots*len(c.names) + len(c.literals) }

// each calls see with the dense inputs that are not 0, in a fixed order.
func (n *notes) each(c *concepts, see func(input int, value float32)) {
	for g, hits := range n.hits {
		if hits == 0 {
			continue
		}
		of := n.words
		if g >= c.byTerms {
			of = n.starts
		}
		kinds := n.distinct[g]
		see(slots*g+slotKinds, weightOfConcepts*logOf(kinds+1))
		see(slots*g+slotDensity, 3*weightOfConcepts*float32(math.Sqrt(float64(hits)/float64(of+5))))
		if kinds >= 2 {
			see(slots*g+slotAtLeast+int(min(kinds, 4))-2, weightOfConcepts)
		}
	}
	for _, l := range n.litsIn {
		see(slots*len(c.names)+int(l), weightOfLiteral)
	}
}

// logs are the logarithms of small counts.
var logs = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(math.Log(float64(max(i, 1))))
	}
	return t
}()

func logOf(n uint32) float32 {
	if int(n) < len(logs) {
		return logs[n]
	}
	return float32(math.Log(float64(n)))
}
