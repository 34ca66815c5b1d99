package bearer

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestEachAlgorithmIsVerified(t *testing.T) {
	v := ofFile(t, allKeys())
	for _, alg := range algorithms {
		text := token(alg, good())
		for range 2 { // the second is remembered
			if name, err := v.tells(t, text, noon); name != "acme" || err != nil {
				t.Errorf("%s: %q %v", alg, name, err)
			}
		}
		forged := token(alg, good())
		forged = forged[:len(forged)-8] + "AAAAAAAA"
		if _, err := v.tells(t, forged, noon); !errors.Is(err, Signature) {
			t.Errorf("%s forged: %v", alg, err)
		}
	}
	if s := v.State(noon); s.Keys != 3 || s.Remembered != 3 {
		t.Errorf("%+v", s)
	}
}

// What attackers and mistaken issuers send.
func TestWhatIsNoGoodTokenIsRefusedForItsReason(t *testing.T) {
	v := ofFile(t, allKeys())
	public, _ := json.Marshal(jwkOf("RS256", issued()["RS256"]))
	hmac := func(secret []byte) string {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(good()))
		token.Header["kid"] = "RS256"
		text, _ := token.SignedString(secret)
		return text
	}
	none := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(good()))
	unsigned, _ := none.SignedString(jwt.UnsafeAllowNoneSignatureType)
	head := func(more map[string]any) map[string]any {
		h := map[string]any{"alg": "EdDSA", "kid": "EdDSA"}
		maps.Copy(h, more)
		return h
	}
	body, _ := json.Marshal(good())
	twice := func(claim string) string { return "{" + claim + "," + string(body[1:]) }
	whole := token("EdDSA", good())
	at := func(d time.Duration) int64 { return noon.Add(d).Unix() }
	for _, c := range []struct {
		name, token string
		want        error
	}{
		{"alg none", unsigned, Algorithm},
		{"alg None", sign("EdDSA", head(map[string]any{"alg": "None"}), good()), Algorithm},
		{"HMAC with the public key as its secret", hmac(public), Algorithm},
		{"another algorithm of the key's kind", sign("RS256", head(map[string]any{"alg": "PS256", "kid": "RS256"}),
			good()), Algorithm},
		{"RS256 by a key of ES256", sign("RS256", head(map[string]any{"alg": "RS256", "kid": "ES256"}), good()),
			UnknownKey},
		{"another key's name", sign("ES256", head(map[string]any{"alg": "EdDSA"}), good()), Signature},
		{"crit", sign("EdDSA", head(map[string]any{"crit": []string{"b64"}}), good()), Critical},
		{"crit of nothing", sign("EdDSA", head(map[string]any{"crit": nil}), good()), Critical},
		{"alg twice", sign("EdDSA", `{"alg":"EdDSA","alg":"none","kid":"EdDSA"}`, good()), Malformed},
		{"a type of another use", sign("EdDSA", head(map[string]any{"typ": "logout+jwt"}), good()), Malformed},
		{"a long kid", sign("EdDSA", head(map[string]any{"kid": strings.Repeat("k", 257)}), good()), Malformed},
		{"a kid that is no text", sign("EdDSA", `{"alg":"EdDSA","kid":7}`, good()), Malformed},
		{"a key of its own", sign("EdDSA", head(map[string]any{"kid": "own", "jwk": jwkOf("own", issued()["EdDSA"]),
			"jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/"}), good()), UnknownKey},
		{"sub twice", token("EdDSA", twice(`"sub":"rival"`)), Malformed},
		{"exp twice", token("EdDSA", twice(`"exp":99999999999`)), Malformed},
		{"another issuer", token("EdDSA", with(map[string]any{"iss": "https://id.example.com/"})), Issuer},
		{"no issuer", token("EdDSA", with(map[string]any{"iss": nil})), Lacking},
		{"another audience", token("EdDSA", with(map[string]any{"aud": []string{"a", "b"}})), Audience},
		{"no audience", token("EdDSA", with(map[string]any{"aud": nil})), Lacking},
		{"an empty audience", token("EdDSA", with(map[string]any{"aud": []string{}})), Lacking},
		{"expired", token("EdDSA", with(map[string]any{"exp": at(-31 * time.Second)})), Expired},
		{"no end", token("EdDSA", with(map[string]any{"exp": nil})), Lacking},
		{"an end that is text", token("EdDSA", with(map[string]any{"exp": "9999999999"})), Malformed},
		{"an end beyond time", token("EdDSA", with(map[string]any{"exp": 1e300})), Malformed},
		{"an end before time", token("EdDSA", with(map[string]any{"exp": -1})), Malformed},
		{"not yet", token("EdDSA", with(map[string]any{"nbf": at(31 * time.Second)})), NotYet},
		{"no tenant", token("EdDSA", with(map[string]any{"sub": nil})), NoTenant},
		{"a tenant that is a list", token("EdDSA", with(map[string]any{"sub": []string{"acme"}})), Malformed},
		{"claims that are none", token("EdDSA", `[]`), Malformed},
		{"claims that are no UTF-8", token("EdDSA", "{\"sub\":\"\xff\"}"), Malformed},
		{"no signature", whole[:strings.LastIndexByte(whole, '.')+1], Signature},
		{"padding", whole + "==", Malformed},
		{"four parts", whole + ".x", Malformed},
		{"no token", "eyJ", Malformed},
		{"100 KB", whole + strings.Repeat("A", 100<<10), TooLong},
	} {
		if name, err := v.tells(t, c.token, noon); !errors.Is(err, c.want) || name != "" {
			t.Errorf("%s: %q %v, want %v", c.name, name, err, c.want)
		}
	}
	if s := v.State(noon); s.Remembered != 0 {
		t.Errorf("what is refused is remembered: %+v", s)
	}
}

func TestWhatIsStillGoodIsAccepted(t *testing.T) {
	v := ofFile(t, allKeys())
	for name, text := range map[string]string{
		"just expired":     token("EdDSA", with(map[string]any{"exp": noon.Add(-29 * time.Second).Unix()})),
		"soon valid":       token("EdDSA", with(map[string]any{"nbf": noon.Add(29 * time.Second).Unix()})),
		"audiences":        token("EdDSA", with(map[string]any{"aud": []string{"x", "octet"}})),
		"a part of second": token("EdDSA", with(map[string]any{"exp": float64(noon.Unix()) + 0.5})),
		"no nbf":           token("EdDSA", with(map[string]any{"nbf": nil})),
		"no kid":           sign("EdDSA", `{"alg":"EdDSA"}`, good()),
		"an access token":  sign("EdDSA", `{"alg":"EdDSA","typ":"at+JWT","kid":"EdDSA","jku":"http://x"}`, good()),
	} {
		if tenant, err := v.tells(t, text, noon); tenant != "acme" || err != nil {
			t.Errorf("%s: %q %v", name, tenant, err)
		}
	}
}

// A token that is remembered ends when it says, and when its key is revoked.
func TestARememberedTokenEndsInTime(t *testing.T) {
	v := ofFile(t, allKeys())
	text := token("ES256", good())
	for at, want := range map[time.Duration]error{0: nil, time.Hour + 29*time.Second: nil,
		time.Hour + 31*time.Second: Expired, 25 * time.Hour: ErrNoKeys} {
		if _, err := v.tells(t, text, noon); err != nil {
			t.Fatal(err)
		}
		if _, err := v.tells(t, text, noon.Add(at)); !errors.Is(err, want) && err != want {
			t.Errorf("after %v: %v", at, err)
		}
	}
	set, err := readKeys(jwksOf(jwkOf("EdDSA", issued()["EdDSA"])))
	if err != nil {
		t.Fatal(err)
	}
	v.keys.Store(set)
	if _, err := v.tells(t, text, noon); !errors.Is(err, UnknownKey) {
		t.Errorf("after its key is gone: %v", err)
	}
}

func TestKeysThatCannotBeTrustedAreLeftOutOrTheSetIsRefused(t *testing.T) {
	ed, ec, rs := jwkOf("k", issued()["EdDSA"]), jwkOf("k", issued()["ES256"]), jwkOf("k", issued()["RS256"])
	but := func(k map[string]any, name string, value any) map[string]any {
		k = maps.Clone(k)
		k[name] = value
		return k
	}
	many := make([]map[string]any, mostKeys+1)
	for i := range many {
		many[i] = but(ed, "kid", fmt.Sprint(i))
	}
	for name, c := range map[string]struct {
		text []byte
		keys int // zero: refused
	}{
		"three of one name, each of its algorithm": {jwksOf(ed, ec, rs), 3},
		"one key twice":          {jwksOf(ed, rs, ec, ed, rs, ec), 3},
		"one name of two keys":   {jwksOf(ed, but(ed, "x", encode(make([]byte, 32)))), 0},
		"none":                   {[]byte(`{"keys":[]}`), 0},
		"no object":              {[]byte(`[]`), 0},
		"half of it":             {allKeys()[:200], 0},
		"keys twice":             {[]byte(`{"keys":[],"keys":[]}`), 0},
		"too many":               {jwksOf(many...), 0},
		"symmetric ones":         {jwksOf(map[string]any{"kty": "oct", "k": "AAAA", "kid": "k"}), 0},
		"one for encryption":     {jwksOf(ed, but(rs, "use", "enc")), 1},
		"one for another use":    {jwksOf(ed, but(ec, "key_ops", []string{"deriveKey"})), 1},
		"of another algorithm":   {jwksOf(ed, but(rs, "alg", "PS256")), 1},
		"a short modulus":        {jwksOf(ed, but(rs, "n", encode(make([]byte, 128)))), 1},
		"a huge modulus":         {jwksOf(ed, but(rs, "n", strings.Repeat("_", 100000))), 1},
		"an exponent of one":     {jwksOf(ed, but(rs, "e", "AQ")), 1},
		"a huge exponent":        {jwksOf(ed, but(rs, "e", strings.Repeat("_", 100))), 1},
		"a point off the curve":  {jwksOf(ed, but(ec, "x", encode(make([]byte, 32)))), 1},
		"another curve":          {jwksOf(ed, but(ec, "crv", "P-384")), 1},
		"a short point":          {jwksOf(ed, but(ec, "x", "AA")), 1},
		"a short key of Ed25519": {jwksOf(ec, but(ed, "x", "AA")), 1},
		"a kid of a page":        {jwksOf(ed, but(ec, "kid", strings.Repeat("k", 1000))), 1},
	} {
		set, err := readKeys(c.text)
		if (err != nil) != (c.keys == 0) || err == nil && len(set.keys) != c.keys {
			t.Errorf("%s: %+v %v", name, set, err)
		}
	}
}

func FuzzTokenIsVerifiedOrRefused(f *testing.F) {
	v := ofFile(f, allKeys())
	f.Add(token("EdDSA", good()), token("ES256", good()))
	f.Add("eyJhbGciOiJub25lIn0.e30.", "ey..")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, text := range []string{a, b} {
			name, err := v.tells(t, text, noon)
			var refused Refused
			if err != nil && !errors.As(err, &refused) || (err == nil) != (name == "acme") {
				t.Errorf("%q: %q %v", text, name, err)
			}
		}
	})
}

// Whatever the claims are: they are read as the strict reader has them, or refused.
func FuzzClaimsAreReadOrRefused(f *testing.F) {
	f.Add(`{"iss":"https://id.example.com","aud":["octet"],"sub":"acme","exp":1795867200}`)
	f.Add(`{"aud":"octet","exp":1e9,"nbf":-0}`)
	f.Fuzz(func(t *testing.T, text string) {
		c := &claims{tenantClaim: "sub"}
		if c.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		var loose map[string]any
		if err := json.Unmarshal([]byte(text), &loose); err != nil {
			t.Fatalf("%q is read, and is no JSON: %v", text, err)
		}
		if sub, is := loose["sub"].(string); is && sub != c.tenant || !is && loose["sub"] != nil {
			t.Errorf("%q: the tenant is %q", text, c.tenant)
		}
	})
}

func FuzzKeysAreReadOrRefused(f *testing.F) {
	f.Add(allKeys())
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"","y":""}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if set, err := readKeys(text); err == nil && (len(set.keys) == 0 || len(set.keys) > mostKeys) {
			t.Errorf("%d keys of %q", len(set.keys), text)
		}
	})
}

func BenchmarkTenant(b *testing.B) {
	v := ofFile(b, allKeys())
	ask := func(b *testing.B, text string) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = v.Tenant(b.Context(), text, sha256.Sum256([]byte(text)), noon)
		}
	}
	junk := sign("EdDSA", `{"alg":"EdDSA","kid":"nobody"}`, good())
	b.Run("unknown kid", func(b *testing.B) { ask(b, junk) })
	for _, alg := range algorithms {
		text := token(alg, good())
		b.Run("cached/"+alg, func(b *testing.B) { ask(b, text) })
		forged := text[:len(text)-8] + "AAAAAAAA" // as much as verifying one takes
		b.Run("uncached/"+alg, func(b *testing.B) { ask(b, forged) })
	}
}
