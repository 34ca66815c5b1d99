package natsstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"octet/internal/await"
)

// What the server refuses is told in its own words, and not as an answer that did not come in time.
func TestWhyTheStreamCannotBeReadIsTold(t *testing.T) {
	f := &fabric{t: t, port: server.RANDOM_PORT, change: func(o *server.Options) {
		o.Users = []*server.User{{Username: "reader", Password: "r", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.STREAM.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}}
	}}
	f.start(t.TempDir())
	t.Cleanup(f.stop)
	at := func(user string) string { return fmt.Sprintf("nats://%s@127.0.0.1:%d", user, f.port) }
	for url, why := range map[string]string{at("reader:wrong"): "authorization violation",
		at("reader:r"): "permissions violation", "nats://reader:wrong@127.0.0.1:1": "connection refused"} {
		t.Run(why, func(t *testing.T) {
			var g gather
			consumer := consume(t, Config{URL: url}, &g)
			told := ""
			defer func() {
				if t.Failed() {
					t.Log(told)
				}
			}()
			await.True(t, "it is told", func() bool {
				told = consumer.Stats().LastError
				return strings.Contains(strings.ToLower(told), why)
			})
			if strings.Contains(told, "wrong") {
				t.Errorf("the password is told: %s", told)
			}
		})
	}
}
