package gateway

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"octet/gateway/tenant"
)

type receivedBody struct {
	io.Reader
	all bool
}

func (receivedBody) Close() error   { return nil }
func (b receivedBody) AtHand() bool { return b.all }

type deadlines struct {
	http.ResponseWriter
	set int
}

func (d *deadlines) SetReadDeadline(time.Time) error { d.set++; return nil }

// A body that was received needs no deadline; any other gets one and loses it.
func TestOnlyABodyThatIsWaitedForHasADeadline(t *testing.T) {
	for want, body := range map[int]io.ReadCloser{
		0: receivedBody{strings.NewReader("{}"), true}, 2: receivedBody{strings.NewReader("{}"), false},
	} {
		w := &deadlines{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "/", nil)
		r.Body, r.ContentLength = body, 2
		x := &exchange{s: &Server{}, rt: &Runtime{Limits: Limits{BodyBytes: 10}}, r: r, ctl: control{w},
			question: &question{}}
		if err := x.readBody(x.s.expect(r, x.ctl, x.rt, &tenant.Tenant{})); err != nil || string(x.body) != "{}" ||
			w.set != want {
			t.Errorf("%q, %v, %d deadlines, want %d", x.body, err, w.set, want)
		}
	}
}
