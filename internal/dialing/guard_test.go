package dialing

import (
	"errors"
	"net/netip"
	"testing"
)

func TestAGuardLetsThroughWhatIsAllowed(t *testing.T) {
	var g Guard
	for _, address := range []string{"[fd00:ec2::254]:80", "100.100.100.200:80", "168.63.129.16:80", "169.254.7.9:80"} {
		if err := g.Control("tcp", address, nil); !errors.Is(err, ErrLinkLocal) {
			t.Errorf("%s: %v", address, err)
		}
	}
	g.Allow([]netip.Prefix{netip.MustParsePrefix("169.254.7.0/24")})
	for address, want := range map[string]bool{"169.254.7.9:80": false, "[::ffff:169.254.7.9]:80": false,
		"169.254.8.9:80": true} {
		if err := g.Control("tcp", address, nil); errors.Is(err, ErrLinkLocal) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}
