package naive

// Dice are the choices of a random run, read from bytes that a fuzzer or a generator made. When they are used up, every
// further choice is 0.
type Dice struct{ Bytes []byte }

// Roll returns a number from 0 to n-1; n is at most 256.
func (d *Dice) Roll(n int) int {
	if len(d.Bytes) == 0 {
		return 0
	}
	b := int(d.Bytes[0])
	d.Bytes = d.Bytes[1:]
	return b % n
}
