package bearer

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"
)

// The algorithms that are accepted.
var algorithms = []string{"RS256", "ES256", "EdDSA"}

// header is what is read of a token's header. A member that comes twice is refused.
type header struct {
	Alg  string         `json:"alg"`
	Kid  string         `json:"kid"`
	Typ  string         `json:"typ"`
	Crit jsontext.Value `json:"crit"`
}

// maxKid bounds the name of a key, in bytes.
const maxKid = 256

// types are what a token may say that it is. What is made for something else, such as a logout, is refused.
var types = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// Shaped reports whether a key has the shape of a token: three parts between dots, the first an object.
func Shaped(key string) bool { return strings.HasPrefix(key, "ey") && strings.Count(key, ".") == 2 }

// readHeader reads the header of a token, whose signature has not been looked at.
func readHeader(token string) (h header, err error) {
	if !Shaped(token) {
		return h, Malformed
	}
	first, _, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.Strict().DecodeString(first)
	if err != nil {
		return h, Malformed
	}
	switch err := json.Unmarshal(text, &h); {
	case err != nil, len(h.Kid) > maxKid, !slices.Contains(types, strings.ToLower(h.Typ)):
		return h, Malformed
	case h.Crit != nil:
		return h, Critical
	case !slices.Contains(algorithms, h.Alg):
		return h, Algorithm
	}
	return h, nil
}

// claims are what is read of a token's claims, of which none may come twice: jwt.Claims.
type claims struct {
	tenantClaim string // the name of the claim that has the tenant
	tenant      string
	issuer      string
	subject     string
	audience    jwt.ClaimStrings
	exp, nbf    *jwt.NumericDate
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *claims) UnmarshalJSON(text []byte) error {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for name, into := range map[string]any{"iss": &c.issuer, "sub": &c.subject} {
		if value, is := all[name]; is {
			if err := json.Unmarshal(value, into); err != nil {
				return err
			}
		}
	}
	if value, is := all[c.tenantClaim]; is {
		if err := json.Unmarshal(value, &c.tenant); err != nil {
			return fmt.Errorf("the claim %s: %w", c.tenantClaim, err)
		}
	}
	var err error
	if c.audience, err = audienceOf(all["aud"]); err != nil {
		return err
	}
	if c.exp, err = dateOf(all["exp"]); err != nil {
		return err
	}
	c.nbf, err = dateOf(all["nbf"])
	return err
}

// audienceOf reads a text or a list of them.
func audienceOf(value jsontext.Value) (all jwt.ClaimStrings, err error) {
	if value == nil {
		return nil, nil
	}
	if value.Kind() == '"' {
		all = make(jwt.ClaimStrings, 1)
		return all, json.Unmarshal(value, &all[0])
	}
	return all, json.Unmarshal(value, (*[]string)(&all))
}

// latest is the end of the year 9999, in seconds.
const latest = 253402300799

// dateOf reads seconds since 1970; nil for a claim that is not there.
func dateOf(value jsontext.Value) (*jwt.NumericDate, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // as jwt.Claims wants it
	}
	var seconds float64
	if err := json.Unmarshal(value, &seconds); err != nil {
		return nil, err
	}
	if value.Kind() != '0' || seconds < 0 || seconds > latest {
		return nil, fmt.Errorf("%g is no time", seconds)
	}
	whole, part := math.Modf(seconds)
	return &jwt.NumericDate{Time: time.Unix(int64(whole), int64(part*1e9))}, nil
}

// GetExpirationTime implements jwt.Claims.
func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) { return c.exp, nil }

// GetIssuedAt implements jwt.Claims.
func (c *claims) GetIssuedAt() (*jwt.NumericDate, error) { return nil, nil } //nolint:nilnil // it is not looked at

// GetNotBefore implements jwt.Claims.
func (c *claims) GetNotBefore() (*jwt.NumericDate, error) { return c.nbf, nil }

// GetIssuer implements jwt.Claims.
func (c *claims) GetIssuer() (string, error) { return c.issuer, nil }

// GetSubject implements jwt.Claims.
func (c *claims) GetSubject() (string, error) { return c.subject, nil }

// GetAudience implements jwt.Claims.
func (c *claims) GetAudience() (jwt.ClaimStrings, error) { return c.audience, nil }
