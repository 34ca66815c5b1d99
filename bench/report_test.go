package main

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRatiosAreTakenRoundByRound(t *testing.T) {
	f := figures{"nginx": {1, 10, 2, 4}, "octet": {2, 30, math.NaN(), 12}}
	l := line(row{name: "unary-1k"}, f)
	if got := l.Gateways["octet"]; got.Ratio != 3 || got.Median != 12 ||
		!slices.Equal(got.Rounds, []float64{2, 30, 12}) {
		t.Errorf("%+v", got)
	}
	if got := l.Gateways["nginx"].Ratio; got != 1 {
		t.Errorf("nginx is %v times itself", got)
	}
}

func TestTableNamesWhatIsMissing(t *testing.T) {
	r := Report{Missing: map[string]string{"haproxy": "not installed"},
		Lines: []Line{line(row{name: "unary-1k", floor: 1.5, aim: 1.15}, figures{"nginx": {12.71}})}}
	var b strings.Builder
	if err := r.writeTable(&b, []string{"nginx", "haproxy"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12.7 (1.00)", "1.50 / 1.15", "not run: haproxy: not installed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
