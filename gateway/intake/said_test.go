package intake

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/ensemble"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// saidBy is the request of a body and headers, of a tenant whose priorities end at 5.
func saidBy(t *testing.T, body string, header http.Header, refuse bool) (*Request, error) {
	t.Helper()
	r := httptest.NewRequest("POST", "/", nil)
	r.Header = header
	q := &Request{Tenant: &tenant.Tenant{Name: "acme", PriorityMax: 5, RefusePriority: refuse},
		Body: &Body{Bytes: []byte(body)}, limits: &ensemble.Limits{}, memory: new(Memory)}
	q.headers.readAll(conn.Of(httptest.NewRecorder(), r), r)
	var bad *apierr.Error
	if q.Intent, bad = readIntent(&q.headers, q.Tenant, nil, time.Unix(1_800_000_000, 0)); bad != nil {
		return q, bad
	}
	return q, q.read(wire.Chat)
}

const plainChat = `{"messages":[{"role":"user","content":"x"}]`

// The first key of a session that is found wins.
func TestTheFirstSessionKeyWins(t *testing.T) {
	all := []struct{ header, value string }{
		{"X-Session-Id", "ours"}, {"", `,"prompt_cache_key":"th\u0065irs"}`}, {"X-Claude-Code-Session-Id", "claude"},
		{"X-Dynamo-Session-Id", "dynamo"},
	}
	want := []string{"ours", "theirs", "claude", "dynamo", ""}
	for i := range len(all) + 1 {
		header, body := http.Header{}, plainChat+`}`
		for _, k := range all[i:] {
			if k.header == "" {
				body = plainChat + k.value
			} else {
				header.Set(k.header, k.value)
			}
		}
		q, err := saidBy(t, body, header, false)
		if err != nil || q.Intent.Session != want[i] {
			t.Errorf("without the first %d: %q, %v, want %q", i, q.Intent.Session, err, want[i])
		}
		if _, exact := q.Caller(); exact != (want[i] != "") {
			t.Errorf("%q: known for certain %v", want[i], exact)
		}
	}
	twice := http.Header{"X-Claude-Code-Session-Id": {"a", "b"}}
	if _, err := saidBy(t, plainChat+`}`, twice, false); err == nil {
		t.Error("two sessions in one header were taken")
	}
	twice.Set("X-Session-Id", "c")
	if q, err := saidBy(t, plainChat+`}`, twice, false); err != nil || q.Intent.Session != "c" {
		t.Errorf("a key that is not looked at: %q, %v", q.Intent.Session, err)
	}
}

// service_tier is a priority where no header says one, within the tenant's ceiling.
func TestAServiceTierIsAPriority(t *testing.T) {
	for _, c := range []struct {
		tier, header string
		asked, given int
		refused      bool // by a tenant that refuses what is over the ceiling
	}{
		{`"flex"`, "", -10, -10, false}, {`"priority"`, "", 10, 5, true}, {`"pr\u0069ority"`, "", 10, 5, true},
		{`"flex"`, "3", 3, 3, false}, {`"priority"`, "0", 0, 0, false}, {`"auto"`, "", 0, 0, false},
		{`"default"`, "", 0, 0, false}, {`null`, "", 0, 0, false}, {`"Flex"`, "", 0, 0, false},
	} {
		header := http.Header{}
		if c.header != "" {
			header.Set("X-Priority", c.header)
		}
		body := plainChat + `,"service_tier":` + c.tier + `}`
		q, err := saidBy(t, body, header, false)
		if in := q.Intent; err != nil || in.Asked != c.asked || in.Priority != c.given {
			t.Errorf("%s, X-Priority %q: %d, in use %d, %v", c.tier, c.header, in.Asked, in.Priority, err)
		}
		_, err = saidBy(t, body, header, true)
		bad, _ := err.(*apierr.Error)
		if c.refused != (err != nil) || c.refused && (bad.Code != apierr.PriorityNotAllowed ||
			bad.Param != "service_tier") {
			t.Errorf("%s, X-Priority %q: %v", c.tier, c.header, err)
		}
	}
}

// A key whose ceiling is below 0 can ask: what asks for no priority has the ceiling, and a tier below it is had.
func TestNoPriorityIsNeverRefused(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		for _, c := range []struct {
			header, tier string
			want         int
			refused      bool
		}{
			{"", "", -5, false}, {"", "auto", -5, false}, {"", "flex", -10, false}, {"", "priority", -5, true},
			{"-7", "", -7, false}, {"-7", "priority", -7, false}, {"0", "", -5, true}, {"0", "flex", -5, true},
		} {
			header := http.Header{}
			if c.header != "" {
				header.Set("X-Priority", c.header)
			}
			r := httptest.NewRequest("POST", "/", nil)
			r.Header = header
			q := &Request{Tenant: &tenant.Tenant{Name: "acme", PriorityMax: -5, RefusePriority: refuse},
				Body:   &Body{Bytes: []byte(plainChat + `,"service_tier":"` + c.tier + `"}`)},
				limits: &ensemble.Limits{}, memory: new(Memory)}
			q.headers.readAll(conn.Of(httptest.NewRecorder(), r), r)
			var bad *apierr.Error
			if q.Intent, bad = readIntent(&q.headers, q.Tenant, nil, time.Unix(1_800_000_000, 0)); bad == nil {
				if err := q.read(wire.Chat); err != nil {
					bad = err.(*apierr.Error) //nolint:forcetypeassert // all of them are
				}
			}
			if refused := bad != nil; refused != (c.refused && refuse) || !refused && q.Intent.Priority != c.want {
				t.Errorf("%+v, refused %t: %v, %d", c, refuse, bad, q.Intent.Priority)
			}
		}
	}
}
