package conn

import "testing"

func TestAnAddressCountsAsItsHost(t *testing.T) {
	for remote, want := range map[string]string{
		"10.0.0.1:5":           "10.0.0.1",
		"[::ffff:10.0.0.1]:5":  "10.0.0.1",
		"[2001:db8:1:2::9]:5":  "2001:db8:1:2::",
		"[fe80::1%eth0]:5":     "fe80::",
		"[2001:db8:1:2:3::]:5": "2001:db8:1:2::",
		"@":                    "invalid IP",
		"":                     "invalid IP",
	} {
		if got := AddressOf(remote).String(); got != want {
			t.Errorf("%q counts as %s, want %s", remote, got, want)
		}
	}
}
