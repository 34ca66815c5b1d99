package apptest

// Key is the API key of the tenant that Keyed declares.
const Key = "sesame"

// KeySHA is the hash of Key.
const KeySHA = "d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272"

// Keyed returns the settings under which a request with Key is of the tenant judge, whose verdicts count.
func Keyed(sets ...string) []string {
	return append([]string{"auth.tenants[0].name=judge", "auth.tenants[0].key_sha256=" + KeySHA}, sets...)
}
