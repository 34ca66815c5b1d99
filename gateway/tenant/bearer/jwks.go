package bearer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
)

// mostKeys bounds the keys of a JWKS.
const mostKeys = 256

// Bounds of RSA's moduli, in bits: shorter ones can be broken, longer ones take too long.
const leastRSA, mostRSA = 2048, 8192

// errKey is why a key is left out.
var errKey = errors.New("bearer: not a key that can verify")

// jwk is what is read of a key (RFC 7517).
type jwk struct {
	Kty string   `json:"kty"`
	Use string   `json:"use"`
	Ops []string `json:"key_ops"`
	Alg string   `json:"alg"`
	Kid string   `json:"kid"`
	Crv string   `json:"crv"`
	N   string   `json:"n"`
	E   string   `json:"e"`
	X   string   `json:"x"`
	Y   string   `json:"y"`
}

// name is what a key is found by.
type name struct{ kid, alg string }

// keyset is the keys of one JWKS. Immutable.
type keyset struct {
	sum  [sha256.Size]byte // of the text
	keys map[name]crypto.PublicKey
}

// find returns the key of a name. A token without a kid is of the only key of its algorithm.
func (s *keyset) find(kid, alg string) (found crypto.PublicKey, ok bool) {
	if s == nil {
		return nil, false
	}
	if kid != "" {
		found, ok = s.keys[name{kid, alg}]
		return found, ok
	}
	of := 0
	for n, key := range s.keys {
		if n.alg == alg {
			found = key
			of++
		}
	}
	return found, of == 1
}

// equal is what all public keys have.
type equal interface{ Equal(crypto.PublicKey) bool }

// readKeys reads a JWKS. Keys of other kinds and for other uses are left out; of those that remain no two that differ
// have one name, and there is one at least.
func readKeys(text []byte) (*keyset, error) {
	var in struct {
		Keys []jwk `json:"keys"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("bearer: the JWKS cannot be read: %w", err)
	}
	if len(in.Keys) > mostKeys {
		return nil, fmt.Errorf("bearer: a JWKS of %d keys, at most %d", len(in.Keys), mostKeys)
	}
	s := &keyset{sum: sha256.Sum256(text), keys: make(map[name]crypto.PublicKey, len(in.Keys))}
	for i := range in.Keys {
		k := &in.Keys[i]
		alg, key, err := k.public()
		if err != nil {
			continue
		}
		n := name{k.Kid, alg}
		if other, twice := s.keys[n].(equal); twice && !other.Equal(key) {
			return nil, fmt.Errorf("bearer: two keys of the JWKS are %s %.80q", alg, k.Kid)
		}
		s.keys[n] = key
	}
	if len(s.keys) == 0 {
		return nil, fmt.Errorf("bearer: the JWKS has %d keys, and none is of RS256, ES256 or EdDSA", len(in.Keys))
	}
	return s, nil
}

// public returns the key, and the one algorithm that it verifies.
func (k *jwk) public() (alg string, key crypto.PublicKey, err error) {
	if k.Use != "" && k.Use != "sig" || len(k.Ops) > 0 && !slices.Contains(k.Ops, "verify") || len(k.Kid) > maxKid {
		return "", nil, errKey
	}
	switch {
	case k.Kty == "RSA":
		alg = "RS256"
		key, err = k.rsa()
	case k.Kty == "EC" && k.Crv == "P-256":
		alg = "ES256"
		key, err = k.ecdsa()
	case k.Kty == "OKP" && k.Crv == "Ed25519":
		alg = "EdDSA"
		key, err = k.ed25519()
	default:
		err = errKey
	}
	if k.Alg != "" && k.Alg != alg && !(alg == "EdDSA" && k.Alg == "Ed25519") {
		err = errKey
	}
	return alg, key, err
}

func (k *jwk) rsa() (crypto.PublicKey, error) {
	n, err := number(k.N)
	if err != nil {
		return nil, err
	}
	e, err := number(k.E)
	if err != nil {
		return nil, err
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e)
	if bits := modulus.BitLen(); bits < leastRSA || bits > mostRSA || modulus.Bit(0) == 0 ||
		exponent.BitLen() > 31 || exponent.Cmp(big.NewInt(3)) < 0 || exponent.Bit(0) == 0 {
		return nil, errKey
	}
	return &rsa.PublicKey{N: modulus, E: int(exponent.Int64())}, nil
}

func (k *jwk) ecdsa() (crypto.PublicKey, error) {
	x, err := number(k.X)
	if err != nil {
		return nil, err
	}
	y, err := number(k.Y)
	if err != nil {
		return nil, err
	}
	if len(x) != 32 || len(y) != 32 {
		return nil, errKey
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y))
}

func (k *jwk) ed25519() (crypto.PublicKey, error) {
	x, err := number(k.X)
	if err != nil {
		return nil, err
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, errKey
	}
	return ed25519.PublicKey(x), nil
}

func number(text string) ([]byte, error) {
	if len(text) > 2*mostRSA/8 {
		return nil, errKey
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}
