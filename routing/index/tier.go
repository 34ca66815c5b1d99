package index

// Tier is where on a replica a block lives; a lower tier is faster.
type Tier uint8

// The tiers, in order of preference.
const (
	GPU Tier = iota
	CPU
	SSD
	Tiers = 3 // how many there are
)

// String returns the wire name.
func (t Tier) String() string { return [...]string{"gpu", "cpu", "ssd"}[t] }
