package model

// rows finds the row of a feature's key: open addressing, at most half full.
type rows struct {
	keys  []uint32
	at    []uint32 // row + 1; 0 is an empty slot
	shift uint
}

func newRows(keys []uint32) rows {
	bits := uint(3)
	for 1<<bits < 2*len(keys) {
		bits++
	}
	r := rows{keys: make([]uint32, 1<<bits), at: make([]uint32, 1<<bits), shift: 32 - bits}
	mask := uint32(1<<bits - 1)
	for row, k := range keys {
		i := r.home(k)
		for r.at[i] != 0 {
			i = (i + 1) & mask
		}
		r.keys[i], r.at[i] = k, uint32(row+1)
	}
	return r
}

// home is where a key is looked for first: Fibonacci hashing.
func (r *rows) home(k uint32) uint32 { return k * 0x9E3779B1 >> r.shift }

func (r *rows) find(k uint32) (row uint32, known bool) {
	mask := uint32(len(r.at) - 1)
	for i := r.home(k); r.at[i] != 0; i = (i + 1) & mask {
		if r.keys[i] == k {
			return r.at[i] - 1, true
		}
	}
	return 0, false
}
