package intake

import (
	"math/big"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"testing"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/conn"
	"octet/gateway/tenant"
)

var numbers = []string{
	"", "0", "1", "-1", "+1", "100", "101", "-100", "-101", "-0", "+0", "007", "1.0", "1e3", "0x10", " 5", "5 ", "5ms",
	"five", "٣", "1_000", "--1", "+-1", "+", "-",
	"86400000", "86400001", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "99999999999999999999999999999999", "NaN", "Inf",
	"0000000000000000000000000000000000000000000001", "1\x00", "\x7f1", "1,2", "1;2", "\t1", "1\n", "½", "１", "1.",
	".1", "1/1", "0b1", "0o7", "1e400", "null", "true", "{}", "30000",
}

// Priorities and deadlines are whole numbers in their range, or a typed error: held against arithmetic without bounds.
func FuzzIntentHeaders(f *testing.F) {
	for i, n := range numbers {
		f.Add(n, numbers[(i*7+3)%len(numbers)], numbers[(i*11+5)%len(numbers)])
		f.Add(n, "", "")
		f.Add("", n, "")
	}
	arrival := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, priority, deadline, ttft string) {
		r, h := httptest.NewRequest("POST", "/", nil), http.Header{}
		for name, v := range map[string]string{"X-Priority": priority, "X-Deadline-Ms": deadline,
			"X-Ttft-Deadline-Ms": ttft} {
			if v != "" {
				h[name] = []string{v}
			}
		}
		r.Header = h
		var fields headers
		fields.readAll(conn.Of(httptest.NewRecorder(), r), r)
		in, err := readIntent(&fields, &tenant.Tenant{PriorityMax: 10}, nil, arrival)
		p, okP := inRange(priority, PriorityLeast, PriorityMost)
		d, okD := inRange(deadline, 1, 86_400_000)
		l, okL := inRange(ttft, 1, 86_400_000)
		if good := okP && okD && okL; good != (err == nil) {
			t.Fatalf("%q, %q, %q: %v", priority, deadline, ttft, err)
		}
		if err != nil {
			if err.Code != apierr.InvalidValue || err.Param == "" {
				t.Fatalf("%q, %q, %q: %v", priority, deadline, ttft, err)
			}
			return
		}
		if in.Asked != int(p) || in.Priority != min(int(p), 10) {
			t.Fatalf("%q: asked %d, in use %d", priority, in.Asked, in.Priority)
		}
		until := func(at time.Time) int64 {
			if at.IsZero() {
				return 0
			}
			return at.Sub(arrival).Milliseconds()
		}
		if until(in.Deadline) != d || until(in.TTFTDeadline) != l ||
			in.Deadline.IsZero() != (deadline == "") {
			t.Fatalf("%q, %q: %v, %v", deadline, ttft, in.Deadline, in.TTFTDeadline)
		}
	})
}

var decimal = regexp.MustCompile(`^[+-]?[0-9]+$`)

// inRange reads a number from least to most; none given is 0.
func inRange(s string, least, most int64) (int64, bool) {
	if s == "" {
		return 0, true
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !decimal.MatchString(s) || !ok || n.Cmp(big.NewInt(least)) < 0 || n.Cmp(big.NewInt(most)) > 0 ||
		len(s) > maxHeaderValue {
		return 0, false
	}
	return n.Int64(), true
}

// GAIE-02: a copy for a second specialist is routed by the rules for its request's intent and headers, and by none of
// what belongs to the answer: deadline, adapter, session, replica.
func TestACopyKeepsWhatRulesAsk(t *testing.T) {
	now := time.Now()
	q := &Request{ID: "r", Body: &Body{Bytes: []byte(`{}`)}, Intent: Intent{Intent: "review", Adapter: "gdb-v2",
		Session: "talk", Priority: 5, Deadline: now, TTFTDeadline: now, Replica: "debug-0"}}
	c := q.Copy(-101, now)
	if want := (Intent{Intent: "review", Priority: -101}); !reflect.DeepEqual(c.Intent, want) || !c.Dry {
		t.Errorf("the copy has %+v, want %+v", c.Intent, want)
	}
}
