package natsstream

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"octet/internal/await"
)

// realm is an operator with one account, which may have streams.
type realm struct {
	t        *testing.T
	operator *jwt.OperatorClaims
	account  nkeys.KeyPair
	resolver *server.MemAccResolver
}

func newRealm(t *testing.T) *realm {
	t.Helper()
	o, operator := keys(t, nkeys.CreateOperator)
	a, account := keys(t, nkeys.CreateAccount)
	_, system := keys(t, nkeys.CreateAccount)
	r := &realm{t: t, operator: jwt.NewOperatorClaims(operator), account: a, resolver: &server.MemAccResolver{}}
	r.operator.SystemAccount = system
	for _, id := range []string{account, system} {
		claims := jwt.NewAccountClaims(id)
		if id == account {
			claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1,
				Consumer: -1}
		}
		if err := r.resolver.Store(id, encoded(t, claims, o)); err != nil {
			t.Fatal(err)
		}
	}
	encoded(t, r.operator, o)
	return r
}

func keys(t *testing.T, create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	t.Helper()
	pair, err := create()
	if err != nil {
		t.Fatal(err)
	}
	public, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return pair, public
}

func encoded(t *testing.T, c jwt.Claims, by nkeys.KeyPair) string {
	t.Helper()
	token, err := c.Encode(by)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// creds writes the credentials of a new user, signed by an account.
func (r *realm) creds(by nkeys.KeyPair, may ...string) (path string) {
	r.t.Helper()
	user, public := keys(r.t, nkeys.CreateUser)
	claims := jwt.NewUserClaims(public)
	claims.Permissions.Pub.Allow.Add(may...)
	seed, err := user.Seed()
	if err != nil {
		r.t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(encoded(r.t, claims, by), seed)
	if err != nil {
		r.t.Fatal(err)
	}
	path = filepath.Join(r.t.TempDir(), "user.creds")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// A real server that lets in the users that an account has signed for: credentials are shown, and say which user may
// publish under which name.
func TestCredentialsAreShownAndBindReplicas(t *testing.T) {
	r := newRealm(t)
	f := &fabric{t: t, port: server.RANDOM_PORT, change: func(o *server.Options) {
		o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{r.operator}, r.resolver,
			r.operator.SystemAccount
	}}
	f.start(t.TempDir())
	t.Cleanup(f.stop)
	as := func(creds string) Config {
		c := f.config()
		c.Creds = creds
		return c
	}
	var g gather
	consumer := consume(t, as(r.creds(r.account, ">")), &g)
	await.True(t, "the stream is made", func() bool { return consumer.Stats().Connected })
	p := publisher(t, as(r.creds(r.account, "octet.kv.debug-0")))
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
	stranger, _ := keys(t, nkeys.CreateAccount)
	for name, creds := range map[string]string{"nobody": "", "somebody of another account": r.creds(stranger, ">"),
		"another replica": r.creds(r.account, "octet.kv.debug-1")} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if err := publisher(t, as(creds)).Publish(ctx, numbered(2)); err == nil {
			t.Errorf("%s published", name)
		}
		cancel()
	}
	publish(t, p, 3)
	await.True(t, "3 is read", g.has(3))
	if g.has(2)() {
		t.Error("2 is read")
	}
}
