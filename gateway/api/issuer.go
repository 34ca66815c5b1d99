package api

import (
	"time"

	"octet/gateway/tenant"
)

// IssuerState is the keys of the issuer of tokens in GET /admin/state; nothing of a key is told.
type IssuerState struct {
	Keys  int    `json:"keys"`
	AgeMs *int64 `json:"age_ms,omitempty"` // since they could be read last; absent if they never could
	Reads uint64 `json:"reads"`            // that brought keys
	Lost  uint64 `json:"failed_reads"`
	// why they could not be read the last time; absent if they could, or were not asked for yet
	Error      string `json:"error,omitempty"`
	Remembered int    `json:"remembered"` // verified tokens
}

// maxIssuerError bounds Error, in bytes: it may hold words of the issuer.
const maxIssuerError = 300

// issuerState returns what is known of the keys by which tokens name tenants; nil if no tokens do.
func issuerState(tenants *tenant.Table, now time.Time) *IssuerState {
	if tenants == nil || tenants.Tokens() == nil {
		return nil
	}
	known := tenants.Tokens().State(now)
	s := &IssuerState{Keys: known.Keys, Reads: known.Good, Lost: known.Lost, Remembered: known.Remembered}
	if known.Keys > 0 {
		age := known.Age.Milliseconds()
		s.AgeMs = &age
	}
	if err := known.Unavailable; err != nil {
		s.Error = err.Error()
		s.Error = s.Error[:min(len(s.Error), maxIssuerError)]
	}
	return s
}
