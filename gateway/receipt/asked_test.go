package receipt

import (
	"fmt"
	"testing"
	"time"
)

// A receipt is found by the id of its request, over many pages and tenants: the newest that is kept, and none that only
// has that id in another place.
func TestAReceiptIsFoundByTheIDOfItsRequest(t *testing.T) {
	const keep, all = 2000, 5000
	rs := NewRings(keep)
	put := func(tenant string, i int, request string) {
		rs.Of(tenant).Put(&Receipt{ID: fmt.Sprint(tenant, "-", i), RequestID: request, Time: time.Unix(int64(i), 0),
			Asked: Asked{Model: "elsewhere"}})
	}
	for i := range all {
		put("a", i, fmt.Sprint("q", i))
	}
	if pages := len(rs.Of("a").pages); pages < 3 {
		t.Fatalf("%d pages", pages)
	}
	put("a", all, "twice")
	put("b", all+2, "twice")
	put("a", all+1, "twice")
	for request, want := range map[string]string{
		"q4999": "a-4999", "q3500": "a-3500", "q3002": "a-3002", // the oldest that is kept
		"q3001": "", "q0": "", "none": "", "elsewhere": "", "a-4999": "",
		"twice": "b-5002",
	} {
		r, ok := rs.Asked(request)
		if ok != (want != "") || ok && (r.ID != want || r.RequestID != request || r.Attempts == nil) {
			t.Errorf("%s: %v, %+v", request, ok, r)
		}
	}
	if r, ok := rs.Asked("q4999"); ok {
		r.Judge(Outcome{Kind: "test"}) // it is the one that Find finds
		if found, _ := rs.Find("a", "a-4999"); len(found.Outcomes) != 1 {
			t.Errorf("%+v", found.Outcomes)
		}
	}
}
