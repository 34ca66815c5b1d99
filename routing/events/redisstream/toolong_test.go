package redisstream

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"octet/internal/await"
	"octet/internal/redistest"
)

// Entries that are too long for one answer together are read one by one, and one that is too long alone is passed over.
func TestAnEntryThatIsTooLongCostsNoOther(t *testing.T) {
	s := redistest.Start(t)
	c := Config{Addr: s.Addr, MaxReply: 1 << 20}
	p := publisher(t, c)
	filler := func(size int) {
		t.Helper()
		r := raw(t, s)
		if err := r.XAdd(t.Context(),
			&redis.XAddArgs{Stream: DefaultStream,
				Values: []any{"other", strings.Repeat("x", size)}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	filler(4 << 20) // the first one of all
	publish(t, p, 1)
	for range 8 {
		filler(300 << 10)
	}
	publish(t, p, 2)
	filler(2 << 20)
	publish(t, p, 3)
	var g gather
	consumer := consume(t, c, &g)
	await.True(t, "the batch behind the long entries", g.has(3))
	if !g.has(1)() || !g.has(2)() {
		t.Errorf("%v", g.seqs)
	}
	if st := consumer.Stats(); st.Bad != 10 {
		t.Errorf("%+v", st)
	}
}
