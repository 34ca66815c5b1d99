package dialing

import (
	"errors"
	"net"
	"testing"
)

func TestNoConnectionGoesToALinkLocalAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"169.254.169.254:80": true, "[fe80::1%lo]:80": true, "[::ffff:169.254.1.1]:80": true,
		"[64:ff9b::a9fe:a9fe]:80": true, "[::169.254.1.1]:80": true, "[::ffff:0:a9fe:101]:80": true,
		"[febf::1]:80": true, "[fec0::1]:80": false, "[64:ff9b::a00:1]:80": false, "[::]:80": false,
		"127.0.0.1:80": false, "10.0.0.1:80": false, "[fd00::1]:80": false, "[::1]:80": false,
	} {
		if err := Control("tcp", address, nil); errors.Is(err, ErrLinkLocal) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	d := net.Dialer{Control: Control}
	if _, err := d.DialContext(t.Context(), "tcp", "169.254.169.254:1"); !errors.Is(err, ErrLinkLocal) {
		t.Errorf("a dialer goes there: %v", err)
	}
}
