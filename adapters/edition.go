package adapters

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"time"
)

// edition is one path and version of an adapter. Engines know it by a name of its own.
type edition struct {
	Adapter
	served string // its name in the engines
	use    use
	claims int // held and waiting, on all hosts
	loaded int // hosts that have it loaded and take claims
	extra  int // hosts beyond those declared, by load

	refusals int       // loads that engines refused in a row
	refused  time.Time // until then nothing that is needed goes for it: engines refused it lately
	loading  int       // hosts that load it now
	deaths   int       // loads in a row after which their engines were not well
	barred   time.Time // until then no engine is told to load it, after such a load
	death    string    // how the last such load ended
	found    bool      // an engine had it without having been told to here, and it is not declared

	retired  bool      // not declared any more, or replaced
	since    time.Time // it was declared, or retired
	ready    time.Time // a host had it loaded first; zero before
	pressing time.Time // since when its load asks for another host; zero means it does not
	calm     time.Time // since when it would do with one host less; zero means it would not
}

// use counts requests, and forgets them by halves.
type use struct {
	count float64
	at    time.Time
}

// on returns what is left of the count at a time.
func (u use) on(now time.Time, half time.Duration) float64 {
	return u.count * math.Exp2(-float64(now.Sub(u.at))/float64(half))
}

func (u *use) add(now time.Time, half time.Duration) { u.count, u.at = u.on(now, half)+1, now }

// freshName names an edition of an adapter whose own name another edition has in the engines. It depends on nothing but
// the edition: a gateway that starts anew finds it again.
func freshName(a Adapter) string {
	sum := sha256.Sum256([]byte(a.Path + "\x00" + a.Version))
	return a.Name + "." + hex.EncodeToString(sum[:4])
}

// is reports whether e is the edition that a declares.
func (e *edition) is(a Adapter) bool {
	return e.Name == a.Name && e.Path == a.Path && e.Version == a.Version
}

// kept is the least number of hosts that keep e loaded, as declared: one where it is to be everywhere, as more than
// that gives way to adapters that are asked for.
func (e *edition) kept() int {
	if e.retired {
		return 0
	}
	return max(1, e.Replicas)
}

// floor is on how many hosts e is to be at least, as declared and by its load.
func (e *edition) floor() int { return e.kept() + e.extra }

// tried reports whether more than one host at a time may load e: one has had it, and no engine has died of it since.
func (e *edition) tried() bool { return !e.ready.IsZero() && e.deaths == 0 }

// onTrial reports whether a host loads e first: others begin once that has it.
func (e *edition) onTrial() bool { return e.loading > 0 && !e.tried() }

// barredFor returns why no host begins to load e now, as an engine has died of it lately; nil if none has.
func (e *edition) barredFor(now time.Time) *Refusal {
	if !now.Before(e.barred) {
		return nil
	}
	return &Refusal{Adapter: e.Name, Reason: ErrLoad, RetryAfter: e.barred.Sub(now), Detail: e.death}
}

// isFresh reports whether a name is one that freshName gives to editions of an adapter.
func isFresh(name, adapter string) bool {
	sum, own := strings.CutPrefix(name, adapter+".")
	digits, err := hex.DecodeString(sum)
	return own && err == nil && len(digits) == 4 && strings.ToLower(sum) == sum
}
