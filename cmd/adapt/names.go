package adapt

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// names gives out names that stand in headers, metrics and paths, each once.
type names map[string]bool

// mostName is how long a name is at most, with room for a number behind it.
const mostName = 56

// give returns a name that is close to what is wanted.
func (n names) give(wanted string) string {
	var b strings.Builder
	for _, r := range wanted {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		switch {
		case b.Len() >= mostName:
		case ok || b.Len() > 0 && strings.ContainsRune("._-", r):
			b.WriteRune(r)
		case b.Len() > 0:
			b.WriteByte('-')
		}
	}
	base := b.String()
	if base == "" {
		base = "model"
	}
	name := base
	for i := 2; n[strings.ToLower(name)] || strings.EqualFold(name, "octet"); i++ {
		name = base + "-" + strconv.Itoa(i)
	}
	n[strings.ToLower(name)] = true
	return name
}

// keys are the secrets of a source. None of them is shown: each that is written out becomes a variable.
type keys map[string]variable

// of returns the variable that holds a key of an engine.
func (k keys) of(secret *value, d *draft) variable {
	if name, named := strings.CutPrefix(secret.word(), "os.environ/"); named && plain(name) {
		return variable(name)
	}
	name, known := k[secret.text]
	if !known {
		name = variable("OCTET_ENGINE_KEY_" + strconv.Itoa(len(k)+1))
		k[secret.text] = name
	}
	d.notes.add(secret.line, secret.path, "the key is not copied: set it in the environment as "+string(name))
	return name
}

// hashOf returns what a tenant's key_sha256 is.
func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// plain reports whether a text is the name of an environment variable.
func plain(name string) bool {
	for i, r := range name {
		letter := r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
