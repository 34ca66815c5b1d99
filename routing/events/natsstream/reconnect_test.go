package natsstream

import (
	"testing"

	"octet/internal/await"
)

// A connection that is lost for a moment is told as up again once the stream can be read again, whether or not anything
// is published.
func TestAQuietStreamIsConnectedAgainAfterABriefLoss(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	var g gather
	consumer := consume(t, f.config(), &g)
	publish(t, p, 1)
	await.True(t, "1 is read", g.has(1))
	before := consumer.Stats()
	conns, err := f.server.Connz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range conns.Conns {
		if err := f.server.DisconnectClientByID(c.Cid); err != nil {
			t.Fatal(err)
		}
	}
	await.True(t, "it is connected again", func() bool {
		now := consumer.Stats()
		return now.Connected && now.Reconnects > before.Reconnects
	})
	publish(t, p, 2)
	await.True(t, "2 is read", g.has(2))
}
