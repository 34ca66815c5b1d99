package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// begun sends a head that promises a body of so many bytes, and the beginning of that.
func (w *world) begun(promised int, beginning string, fields ...string) net.Conn {
	w.T.Helper()
	conn := w.dial()
	fmt.Fprintf(
		conn,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sContent-Length: "+
			"%d\r\n\r\n%s",
		strings.Join(fields, ""), promised, beginning)
	return conn
}

// answerOn reads an answer.
func answerOn(t *testing.T, conn net.Conn) (*http.Response, []byte) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp, answer
}

// Bodies that have not come take no places among the open requests, of all or of a tenant: a client that promises them
// holds up no other.
func TestBodiesThatHaveNotComeTakeNoPlaces(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		w := newWorld(t, smallWorld, smallEngines(), "front="+front, "limits.max_streams=4",
			"auth.anonymous_limits.max_streams=4")
		var promised []net.Conn
		for range 20 {
			promised = append(promised, w.begun(len(systems), systems[:7]))
		}
		eventually(t, "the heads are read", func() bool { return w.App.Server().Inbound() == 20 })
		if resp, answer := w.Post("/v1/chat/completions", systems); resp.StatusCode != 200 {
			t.Errorf("%s: beside 20 bodies that have not come: status %d: %s", front, resp.StatusCode, answer)
		}
		for _, conn := range promised[:4] {
			fmt.Fprint(conn, systems[7:])
			if resp, answer := answerOn(t, conn); resp.StatusCode != 200 {
				t.Errorf("%s: a body that came late: status %d: %s", front, resp.StatusCode, answer)
			}
		}
		for _, conn := range promised {
			conn.Close()
		}
		eventually(t, "nothing is on its way", func() bool { return w.App.Server().Inbound() == 0 })
		eventually(t, "ledgers at their baseline", w.Quiet)
	}
}

// Bodies on their way are bounded in number and bytes, of all and of one sender; the one that is on its way for longest
// gives way, so that slow ones cannot keep new ones out however often they are begun anew.
func TestBodiesOnTheirWayAreBounded(t *testing.T) {
	const long = 3 << 10
	body := strings.Replace(systems, `"x"`, `"`+strings.Repeat("x", long)+`"`, 1)
	for _, c := range []struct {
		name   string
		sets   []string
		sent   int // bytes of each
		fits   int
		status int
		code   apierr.Code
	}{
		{"number", []string{"limits.arriving_bodies=4", "limits.arriving_share=1"}, 7, 4, 503, apierr.Overloaded},
		{"bytes", []string{"limits.arriving_bytes=10KiB", "limits.arriving_share=1"}, long, 3, 503,
			apierr.Overloaded},
		{"a share of the number", []string{"limits.arriving_bodies=8"}, 7, 4, 429, apierr.QuotaExceeded},
		{"a share of the bytes", []string{"limits.arriving_bytes=20KiB"}, long, 3, 429, apierr.QuotaExceeded},
	} {
		for _, front := range []string{"octet", "nethttp"} {
			t.Run(c.name+" "+front, func(t *testing.T) {
				w := newWorld(t, smallWorld, smallEngines(), append(c.sets, "front="+front)...)
				var slow []net.Conn
				for i := range c.fits + 3 {
					slow = append(slow, w.begun(len(body), body[:c.sent]))
					eventually(t, "it is on its way",
						func() bool { return w.App.Server().InboundBytes() == int64(c.sent*min(i+1, c.fits)) })
				}
				for _, conn := range slow[:3] {
					resp, answer := answerOn(t, conn)
					checkError(t, resp, answer, c.status, c.code, "")
					if !strings.Contains(string(answer), "limits.arriving_") {
						t.Errorf("no limit is named in %s", answer)
					}
				}
				for range 3 { // quick ones come in beside as many slow ones as there may be
					if resp, answer := w.Post("/v1/chat/completions", systems); resp.StatusCode != 200 {
						t.Errorf("status %d: %s", resp.StatusCode, answer)
					}
				}
				last := slow[len(slow)-1]
				fmt.Fprint(last, body[c.sent:])
				if resp, answer := answerOn(t, last); resp.StatusCode != 200 {
					t.Errorf("the newest: status %d: %s", resp.StatusCode, answer)
				}
			})
		}
	}
}

// A decision alone counts like a request: in the tenant's rate, and among what is open.
func TestADecisionAloneIsRatedLikeARequest(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "auth.anonymous_limits.rate.requests_per_second=1",
		"auth.anonymous_limits.rate.burst=3")
	refused := 0
	for range 20 {
		resp, answer := w.Post("/v1/route", systems)
		if resp.StatusCode == 200 {
			continue
		}
		refused++
		checkError(t, resp, answer, 429, apierr.QuotaExceeded, "")
		if resp.Header.Get("Retry-After") == "" {
			t.Errorf("no Retry-After: %v", resp.Header)
		}
	}
	if refused < 10 {
		t.Errorf("%d of 20 refused at one a second", refused)
	}
	w = newWorld(t, smallWorld, smallEngines(), "limits.max_streams=1", "limits.idle_timeout=1m")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":1}`)
	w.Ask(t.Context(), "/v1/chat/completions", streamed(systems))
	resp, answer := w.Post("/v1/route", hello)
	checkError(t, resp, answer, 503, apierr.Overloaded, "")
}

// Connections are bounded, of all clients and of one address, and one too many is told in the contract's shape.
func TestConnectionsAreBounded(t *testing.T) {
	for _, front := range []string{"octet", "nethttp"} {
		for _, c := range []struct {
			limit  string
			status int
			code   apierr.Code
		}{
			{"limits.connections=2", 503, apierr.Overloaded},
			{"limits.connections_per_address=2", 503, apierr.Overloaded},
		} {
			t.Run(front+" "+c.limit, func(t *testing.T) {
				w := newWorld(t, smallWorld, smallEngines(), "front="+front, c.limit)
				for range 2 {
					w.begun(len(systems), systems[:7])
				}
				eventually(t, "the heads are read", func() bool { return w.App.Server().Inbound() == 2 })
				conn := w.dial()
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				if resp.StatusCode != c.status || !strings.Contains(string(answer), string(c.code)) ||
					!strings.Contains(string(answer), strings.Split(c.limit, "=")[0]) {
					t.Errorf("status %d: %s", resp.StatusCode, answer)
				}
				if status := w.Get(w.Admin+"/admin/state", nil); status != 200 {
					t.Errorf("the admin listener says %d", status)
				}
			})
		}
	}
}
