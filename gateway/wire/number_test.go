package wire

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestIntegersAreReadUpToTheirLimits(t *testing.T) {
	for _, num := range []string{"0", "-0", "7", "10", "-10", "999999999999999999", "1000000000000000000",
		"9223372036854775807", "-9223372036854775807",
		"9223372036854775808", "9999999999999999999", "18446744073709551616", "18446744073709551617",
		"99999999999999999999", "1.0", "1e3", "1E3"} {
		for _, tail := range []string{"", " ", ",", "}"} {
			c := NewCursor([]byte(num+tail), 1)
			n, ok := c.Int()
			want, err := strconv.ParseInt(num, 10, 64)
			if ok != (err == nil) || ok && n != int(want) || c.Offset() != len(num) {
				t.Errorf("%s is %d %v, read up to %d", num, n, ok, c.Offset())
			}
		}
	}
	for _, bad := range []string{"", "-", "01", "00", "-01", "+1", "1.", ".5", "1e", "1e+", "1.e3", "0x1"} {
		c := NewCursor([]byte(bad), 1)
		if c.Int(); c.End() {
			t.Errorf("%q passes for a number", bad)
		}
	}
}

func TestShortNumbersAreTheNearestFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 200_000 {
		num := fmt.Sprint(rng.Uint64() >> rng.IntN(64))
		if at := rng.IntN(len(num)); at > 0 {
			num = num[:at] + "." + num[at:]
		}
		got, err := float([]byte(num))
		if want, _ := strconv.ParseFloat(num, 64); got != want || err != nil {
			t.Fatalf("%s is %v, want %v", num, got, want)
		}
	}
}
