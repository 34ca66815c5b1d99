package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A receipt that somebody has asked for stays what it was, however many come after it; one that nobody asked for is found while it
// is kept and not after.
func TestAReceiptThatWasFoundIsNotWrittenOver(t *testing.T) {
	const keep = 8
	rs := newReceipts(keep)
	write := func(writer, i int) string {
		r := blank()
		r.ID, r.tenant = fmt.Sprint("r-", writer, "-", i), fmt.Sprint("t", writer)
		r.Kind = r.ID
		r.Attempts = append(r.Attempts, Attempt{Replica: r.ID})
		r.Routing = append(r.Routing, RoutingRecord{Specialist: r.ID})
		id := r.ID
		if old := rs.put(r); old != nil {
			spares.Put(old)
		}
		return id
	}
	var all sync.WaitGroup
	for writer := range 4 {
		all.Go(func() {
			tenant := fmt.Sprint("t", writer)
			held := map[string]*Receipt{}
			var ids []string
			for i := range 2000 {
				id := write(writer, i)
				ids = append(ids, id)
				if i%7 == 0 {
					held[id] = rs.find(tenant, id)
				}
				if i >= keep && rs.find(tenant, ids[i-keep]) != nil {
					t.Errorf("%s is found after %d others", ids[i-keep], keep)
				}
				if rs.find("another", id) != nil {
					t.Error("another tenant's receipt is found")
				}
			}
			for id, r := range held {
				if r == nil || r.ID != id {
					t.Errorf("%s was not found, or is another by now", id)
					continue
				}
				text, err := r.MarshalJSON()
				if err != nil || strings.Count(string(text), id+`"`) != 4 {
					t.Errorf("%s became %s", id, text)
				}
			}
		})
	}
	all.Wait()
}
