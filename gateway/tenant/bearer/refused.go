package bearer

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"
)

// ErrNoKeys is the error while no key of the issuer is known, or what is known is too old.
var ErrNoKeys = errors.New("bearer: no keys of the issuer are known")

// ErrBusy is the error while more tokens are to be verified than can be.
var ErrBusy = errors.New("bearer: too many tokens are to be verified")

// Refused is why a token is not accepted, as its client may be told.
type Refused string

// The reasons.
const (
	TooLong    Refused = "the token is too long"
	Malformed  Refused = "the token is not a JWT of the form that is accepted"
	Algorithm  Refused = "the token's alg is none of RS256, ES256, EdDSA"
	Critical   Refused = "the token's header has crit"
	UnknownKey Refused = "no key of the issuer has the token's kid"
	Signature  Refused = "the token's signature is wrong"
	Expired    Refused = "the token has expired"
	Lacking    Refused = "the token has no iss, aud or exp"
	NotYet     Refused = "the token is not valid yet"
	Issuer     Refused = "the token is of another issuer"
	Audience   Refused = "the token is for another audience"
	NoTenant   Refused = "the token names no tenant"
)

func (r Refused) Error() string { return "bearer: " + string(r) }

// reasonOf returns the reason for an error of the library.
func reasonOf(err error) error {
	for _, one := range []struct {
		err    error
		reason Refused
	}{
		{jwt.ErrTokenSignatureInvalid, Signature}, {jwt.ErrTokenUnverifiable, UnknownKey},
		{jwt.ErrTokenExpired, Expired}, {jwt.ErrTokenNotValidYet, NotYet}, {jwt.ErrTokenInvalidIssuer, Issuer},
		{jwt.ErrTokenInvalidAudience, Audience}, {jwt.ErrTokenRequiredClaimMissing, Lacking},
	} {
		if errors.Is(err, one.err) {
			return one.reason
		}
	}
	return Malformed
}
