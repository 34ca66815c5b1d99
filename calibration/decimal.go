package calibration

import (
	"bytes"
	"strconv"
)

// decimal is a JSON number in the one form that all numbers of its value have: a sign, its digits without zeros at
// either end, and the power of ten of the last one. An exponent that is no int64 stays as it is written.
func decimal(number []byte) []byte {
	digits, exponent, _ := bytes.Cut(bytes.ToLower(number), []byte{'e'})
	digits, negative := bytes.CutPrefix(digits, []byte{'-'})
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	power := int64(-len(fraction))
	digits = bytes.TrimLeft(append(append([]byte(nil), whole...), fraction...), "0")
	if len(digits) == 0 {
		return []byte{'0'}
	}
	short := bytes.TrimRight(digits, "0")
	power += int64(len(digits) - len(short))
	const most = 1 << 62
	if len(exponent) > 0 {
		n, err := strconv.ParseInt(string(exponent), 10, 64)
		if err != nil || n > most || n < -most {
			return number
		}
		power += n
	}
	out := short
	if negative {
		out = append([]byte{'-'}, short...)
	}
	return strconv.AppendInt(append(out[:len(out):len(out)], 'e'), power, 10)
}
