package bearer

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issued are keys that tests sign with: made once, as RSA's take time.
var issued = sync.OnceValue(func() map[string]crypto.Signer {
	r, _ := rsa.GenerateKey(rand.Reader, 2048)
	e, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, d, _ := ed25519.GenerateKey(rand.Reader)
	return map[string]crypto.Signer{"RS256": r, "ES256": e, "EdDSA": d}
})

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// jwkOf is the public half of a key.
func jwkOf(kid string, signer crypto.Signer) map[string]any {
	switch key := signer.Public().(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "kid": kid, "n": encode(key.N.Bytes()),
			"e": encode(big.NewInt(int64(key.E)).Bytes())}
	case *ecdsa.PublicKey:
		raw, _ := key.Bytes()
		return map[string]any{"kty": "EC", "crv": "P-256", "kid": kid, "x": encode(raw[1:33]), "y": encode(raw[33:])}
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encode(key)}
	}
	panic("no such key")
}

func jwksOf(keys ...map[string]any) []byte {
	text, _ := json.Marshal(map[string]any{"keys": keys})
	return text
}

// allKeys are the keys of issued, each named by its algorithm.
func allKeys() []byte {
	return jwksOf(jwkOf("RS256", issued()["RS256"]), jwkOf("ES256", issued()["ES256"]),
		jwkOf("EdDSA", issued()["EdDSA"]))
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// good is what a token of acme says.
func good() map[string]any {
	return map[string]any{"iss": "https://id.example.com", "aud": "octet", "sub": "acme",
		"exp": noon.Add(time.Hour).Unix(), "nbf": noon.Unix()}
}

// with returns good with some claims changed; nil takes one out.
func with(change map[string]any) map[string]any {
	c := good()
	maps.Copy(c, change)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// sign returns a token of a header and claims, as text or as a map, signed by the issuer's key of an algorithm.
func sign(alg string, head, body any) string {
	text := func(v any) string {
		if s, is := v.(string); is {
			return encode([]byte(s))
		}
		b, _ := json.Marshal(v)
		return encode(b)
	}
	signed := text(head) + "." + text(body)
	sig, err := jwt.GetSigningMethod(alg).Sign(signed, issued()[alg])
	if err != nil {
		panic(err)
	}
	return signed + "." + encode(sig)
}

// token returns a token of claims, by the key of an algorithm.
func token(alg string, body any) string {
	return sign(alg, map[string]any{"alg": alg, "kid": alg, "typ": "JWT"}, body)
}

func config(jwks string) Config {
	return Config{JWKS: jwks, Issuer: "https://id.example.com", Audience: "octet", TenantClaim: "sub",
		Leeway: 30 * time.Second, Refresh: 5 * time.Minute, UnknownAfter: 10 * time.Second, Timeout: 2 * time.Second,
		KeepFor: 24 * time.Hour, TokenBytes: 8 << 10, JWKSBytes: 1 << 20, Tokens: 100}
}

// ofFile returns a Verifier of a file of keys, whose last reading was at noon.
func ofFile(t testing.TB, text []byte) *Verifier {
	t.Helper()
	path := filepath.Join(t.TempDir(), "jwks.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := New(config(path), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	v.good.Store(noon.UnixNano())
	v.tried = time.Now() // so that no test waits for another reading
	return v
}

func (v *Verifier) tells(t testing.TB, token string, now time.Time) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return v.Tenant(ctx, token, sha256.Sum256([]byte(token)), now)
}
