package doctor

import (
	"errors"
	"testing"
	"time"
)

func TestKeysOfAnIssuerAreJudgedByTheirAge(t *testing.T) {
	down := errors.New("down")
	for name, c := range map[string]struct {
		at   *Issuer
		want string // "" says nothing
	}{
		"no issuer":              {nil, ""},
		"good":                   {&Issuer{Keys: 2, Age: time.Minute, KeepFor: time.Hour}, Pass},
		"down, and still served": {&Issuer{Keys: 2, Age: time.Minute, KeepFor: time.Hour, Err: down}, Warn},
		"down for too long":      {&Issuer{Keys: 2, Age: 2 * time.Hour, KeepFor: time.Hour, Err: down}, Fail},
		"never there":            {&Issuer{KeepFor: time.Hour, Err: down}, Fail},
	} {
		got := ""
		for _, one := range jwks(&Shared{Issuer: c.at}) {
			got = one.Status
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
