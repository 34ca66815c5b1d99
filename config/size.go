package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. In the file it is a plain number, or one with a unit: B, KB, MB, GB, TB, PB (powers of
// 1000), KiB, MiB, GiB, TiB, PiB (powers of 1024).
type Size int64

// units in the order that String tries them: the largest binary one first.
var units = []struct {
	name  string
	bytes float64
}{
	{"PiB", 1 << 50}, {"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"PB", 1e15}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1},
}

// ParseSize reads "8MiB", "1.5 GB" or "4096". It fails on a negative size, an unknown unit, or more than an int64
// holds.
func ParseSize(text string) (Size, error) {
	number, scale := strings.TrimSpace(text), 1.0
	for _, u := range units {
		if len(number) > len(u.name) && strings.EqualFold(number[len(number)-len(u.name):], u.name) {
			number, scale = strings.TrimSpace(number[:len(number)-len(u.name)]), u.bytes
			break
		}
	}
	if whole, err := strconv.ParseInt(number, 10, 64); err == nil && scale == 1 && whole >= 0 {
		return Size(whole), nil
	}
	bytes, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(bytes) || strings.ContainsAny(number, "xXpP_") {
		return 0, fmt.Errorf("%q is not a size such as 8MiB", clip(text))
	}
	if bytes *= scale; bytes < 0 || bytes >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not between 0 and 8EiB", clip(text))
	}
	return Size(bytes), nil
}

// String is the shortest exact form: the largest binary unit that divides the size, else plain bytes.
func (s Size) String() string {
	for _, u := range units[:5] {
		if n := Size(u.bytes); s >= n && s%n == 0 {
			return strconv.FormatInt(int64(s/n), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
