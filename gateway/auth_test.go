package gateway

import (
	"strings"
	"testing"

	"octet/gateway/apierr"
)

// A reload counts on: what a tenant holds open before it is held after it, whichever of the two gives it back.
func TestATenantsStreamsOutliveAReload(t *testing.T) {
	list := []TenantConfig{{Name: "acme", KeySHA256: strings.Repeat("ab", 32), MaxStreams: 2}}
	load := func(earlier *Tenants) *Tenants {
		t.Helper()
		table, err := NewTenants(list, nil, earlier, Sharing{})
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
	before.giveBack()
	if refused := after.Enter(); refused != nil {
		t.Errorf("what was given back is not there: %v", refused)
	}
}
