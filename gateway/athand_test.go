package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
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
		x := &exchange{s: &Server{}, rt: &ensemble.Runtime{Limits: ensemble.Limits{BodyBytes: 10}}, r: r,
			w:        received{conn.Of(w, r), all},
			question: &question{}}
		if err := x.readBody(x.s.expect(r, x.w, x.rt, &tenant.Tenant{})); err != nil || string(x.body) != "{}" ||
			w.set != want {
			t.Errorf("%q, %v, %d deadlines, want %d", x.body, err, w.set, want)
		}
	}
}
