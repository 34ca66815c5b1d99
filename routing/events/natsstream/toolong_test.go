package natsstream

import (
	"testing"

	"github.com/nats-io/nats.go"

	"octet/internal/await"
)

// A message beyond max_message ends the connection that it comes by. Those after it are read all the same.
func TestAMessageThatIsTooLongCostsNoOther(t *testing.T) {
	f := startNATS(t)
	p := publisher(t, f.config())
	for seq := range uint64(40) {
		publish(t, p, seq+1)
	}
	js := f.admin()
	for _, m := range []*nats.Msg{
		{Data: make([]byte, 300<<10)}, {Data: make([]byte, 64<<10), Header: nats.Header{"Octet-Seal": {"short"}}},
	} {
		m.Subject = "octet.kv.debug-0"
		if _, err := js.PublishMsg(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	publish(t, p, 41, 42)
	c := f.config()
	c.MaxMessage = 64 << 10
	var g gather
	consumer := consume(t, c, &g)
	await.True(t, "42 is read", g.has(42))
	if st := consumer.Stats(); st.Bad != 2 || st.Messages != 42 {
		t.Errorf("%+v", st)
	}
}
