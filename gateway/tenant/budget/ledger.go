package budget

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"
)

// mostAccounts bounds the accounts that are kept: further tenants have one that ends with their configuration.
const mostAccounts = 1 << 16

// mostState bounds what is read of a state, in bytes.
const mostState = 32 << 20

// mostTokens bounds a count that is read.
const mostTokens = 1 << 60

// Ledger has the accounts of all tenants, by name. It outlives configurations: a tenant that is taken out and put back
// has what it had. Safe for concurrent use.
type Ledger struct {
	shared  Shared
	parts   int
	changed atomic.Bool

	mu       sync.Mutex
	accounts map[string]*Account // guarded by mu
}

// NewLedger returns an empty Ledger. shared is the count of so many gateways; nil if this one counts alone.
func NewLedger(shared Shared, gateways int) *Ledger {
	if shared == nil {
		gateways = 1
	}
	return &Ledger{shared: shared, parts: gateways, accounts: map[string]*Account{}}
}

// Of returns the account of a tenant. A nil Ledger has one for each call.
func (l *Ledger) Of(tenant string) *Account {
	if l == nil {
		return &Account{name: tenant, parts: 1, changed: new(atomic.Bool)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.accounts[tenant]
	if a == nil {
		a = &Account{name: tenant, shared: l.shared, parts: l.parts, changed: &l.changed}
		if len(l.accounts) < mostAccounts {
			l.accounts[tenant] = a
		}
	}
	return a
}

// state is a Ledger as it is kept.
type state struct {
	Version int                         `json:"version"`
	Tenants map[string]map[string][]row `json:"tenants"` // by tenant and span, the one that was used last first
}

// row is the count of a period.
type row struct {
	Period int64 `json:"period"` // days since 1970, or months since the year 0
	Known  int64 `json:"known"`  // what all gateways had used
	Own    int64 `json:"own"`    // what this one had used beside it
}

// stateVersion is that of what Save writes.
const stateVersion = 1

// Changed reports whether anything has been counted since it was asked last.
func (l *Ledger) Changed() bool { return l.changed.Swap(false) }

// Keep has Changed report a change: what was counted could not be kept.
func (l *Ledger) Keep() { l.changed.Store(true) }

// Save writes what Load reads. Accounts that nothing was counted in are left out.
func (l *Ledger) Save(w io.Writer) error {
	out := state{Version: stateVersion, Tenants: map[string]map[string][]row{}}
	l.mu.Lock()
	all := maps.Clone(l.accounts)
	l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if rows := all[name].rows(); len(rows) > 0 {
			out.Tenants[name] = rows
		}
	}
	return json.MarshalWrite(w, &out, json.Deterministic(true))
}

func (a *Account) rows() map[string][]row {
	a.mu.Lock()
	defer a.mu.Unlock()
	rows := map[string][]row{}
	for s := range spans {
		for _, c := range a.meters[s] {
			if c.known != 0 || c.own != 0 {
				rows[s.String()] = append(rows[s.String()], row{c.period, c.known, c.own})
			}
		}
	}
	return rows
}

// Load reads what Save has written, into a Ledger that has counted nothing yet. On an error nothing is read.
func (l *Ledger) Load(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, mostState+1))
	if err != nil {
		return err
	}
	if len(text) > mostState {
		return fmt.Errorf("budget: the state is longer than %d bytes", mostState)
	}
	var in state
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("budget: the state cannot be read: %w", err)
	}
	if in.Version != stateVersion || len(in.Tenants) > mostAccounts {
		return fmt.Errorf("budget: a state of version %d, with %d tenants", in.Version, len(in.Tenants))
	}
	for name, rows := range in.Tenants {
		for span, kept := range rows {
			if span != day.String() && span != month.String() || len(kept) > len(meter{}) ||
				slices.ContainsFunc(kept, row.implausible) {
				return fmt.Errorf("budget: the state has %.40q %.200v of %.80q", span, kept, name)
			}
		}
	}
	for name, rows := range in.Tenants {
		l.Of(name).restore(rows)
	}
	return nil
}

func (c row) implausible() bool {
	beyond := func(n int64) bool { return n < -mostTokens || n > mostTokens }
	return c.Period <= 0 || c.Period > 1<<20 || beyond(c.Known) || beyond(c.Own)
}

func (a *Account) restore(rows map[string][]row) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for s := range spans {
		for _, c := range slices.Backward(rows[s.String()]) {
			*a.meters[s].at(c.Period) = count{period: c.Period, known: c.Known, own: c.Own}
		}
	}
}
