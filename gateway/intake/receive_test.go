package intake

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octet/gateway/conn"
	"octet/gateway/ensemble"
)

// received is a connection that has received the whole body, or not.
type received struct {
	conn.Conn
	all bool
}

func (r received) AtHand() bool { return r.all }

type deadlines struct {
	http.ResponseWriter
	set int
}

func (d *deadlines) SetReadDeadline(time.Time) error { d.set++; return nil }

// A body that was received needs no deadline; any other gets one and loses it.
func TestOnlyABodyThatIsWaitedForHasADeadline(t *testing.T) {
	for want, all := range map[int]bool{0: true, 2: false} {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "/", strings.NewReader("{}"))
		c := received{conn.Of(w, r), all}
		var arriving Arriving
		q := Request{Body: new(Body), limits: &ensemble.Limits{BodyBytes: 10}, memory: new(Memory)}
		u := arriving.Expect(c, r, q.limits.Inbound, "")
		if err := q.receive(c, r, &arriving, u); err != nil || string(q.Bytes) != "{}" || w.set != want {
			t.Errorf("%q, %v, %d deadlines, want %d", q.Bytes, err, w.set, want)
		}
	}
}
