package redisstream

import (
	"testing"

	"octet/internal/await"
	"octet/internal/redistest"
)

// A real server that is stopped and goes on: what was published before is not read twice, what comes after is read, and
// meanwhile the publisher and the statistics say so.
func TestAServerThatIsPausedIsReadOn(t *testing.T) {
	s := redistest.Start(t)
	c := Config{Addr: s.Addr}
	p := publisher(t, c)
	var g gather
	consumer := consume(t, c, &g)
	publish(t, p, 1, 2)
	await.True(t, "2 is read", g.has(2))
	s.Pause()
	if err := p.Publish(t.Context(), numbered(3)); err == nil {
		t.Error("a server that is stopped took a batch")
	}
	await.True(t, "it is missed", func() bool { st := consumer.Stats(); return st.Failures > 0 && !st.Connected })
	s.Resume()
	publish(t, p, 3, 4)
	await.True(t, "4 is read", g.has(4))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, seq := range g.seqs[:2] {
		if seq != uint64(i)+1 {
			t.Errorf("%v", g.seqs)
		}
	}
	if st := consumer.Stats(); st.Rewinds != 0 || !st.Connected || g.seqs[2] != 3 {
		t.Errorf("%+v, %v", st, g.seqs)
	}
}
