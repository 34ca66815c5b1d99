package tenant

import (
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// A reload keeps the count: streams opened before it are counted after it, whichever generation releases them.
func TestATenantsStreamsOutliveAReload(t *testing.T) {
	list := []Config{{Name: "acme", Keys: []Key{{SHA256: strings.Repeat("ab", 32)}}, MaxStreams: 2}}
	load := func(earlier *Table) *Table {
		t.Helper()
		table, err := NewTable(list, nil, earlier, Sharing{})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	first := load(nil)
	before, after := first.named("acme"), load(first).named("acme")
	if refused := before.Enter(); refused != nil {
		t.Fatal(refused)
	}
	if refused := after.Enter(); refused != nil {
		t.Fatal(refused)
	}
	if refused := after.Enter(); refused == nil || refused.Code != apierr.QuotaExceeded {
		t.Fatalf("a third of two: %v", refused)
	}
	before.Leave()
	if refused := after.Enter(); refused != nil {
		t.Errorf("a released stream is not free: %v", refused)
	}
}
