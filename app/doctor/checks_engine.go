package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"octet/engine"
	"octet/engine/openai"
	"octet/internal/certs"
	"octet/internal/dialing"
)

// key returns a key of the replica with its value, as it is pasted into a configuration.
func (f *Facts) key(name string, value any) string {
	return fmt.Sprintf("%s.%s: %v", f.Path, name, value)
}

// of returns a key of the specialist likewise.
func (f *Facts) of(name string, value any) string {
	path, _, _ := strings.Cut(f.Path, ".replicas")
	return fmt.Sprintf("%s.%s: %v", path, name, value)
}

// start returns what the engine is to be started with; otherwise where its kind has no such option.
func start(flag, value, otherwise string) string {
	if flag == "" {
		return otherwise
	}
	return strings.TrimSpace("start the engine with " + flag + " " + value)
}

func either(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", or " + b
}

func reachable(f *Facts) Verdict {
	switch {
	case f.Reach == nil && f.Standing.Asleep:
		return pass("%s answers; it sleeps", f.Replica.URL)
	case f.Reach == nil && f.Standing.Loading:
		return pass("%s answers; it loads its model", f.Replica.URL)
	case f.Reach == nil:
		return pass("%s answers", f.Replica.URL)
	case openai.IsLoading(f.Reach):
		return warn("wait until it has loaded its model", "%s loads its model", f.Replica.URL)
	case errors.Is(f.Reach, dialing.ErrLinkLocal):
		return fail("fleet.allow_addresses: [its address]", "%s: %v", f.Replica.URL, f.Reach)
	case certs.Why(f.Reach) != "":
		return untrusted(f)
	case isRefused(f.Reach):
		return fail(f.apiKey(), "%s: %v", f.Replica.URL, f.Reach)
	case errors.Is(f.Reach, openai.ErrUnsupported):
		return fail(f.key("health_path", engine.ModelsPath)+", or "+f.key("url", "where the engine listens"), "%s: %v",
			f.Replica.URL, f.Reach)
	}
	return fail(either("start the engine there", f.key("url", "where it listens")), "%s: %v", f.Replica.URL, f.Reach)
}

// untrusted is the Verdict on an engine with which the handshake fails.
func untrusted(f *Facts) Verdict {
	var (
		host    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	cure := either(f.key("tls", "{cert: FILE, key: FILE}"), "the authorities that the engine accepts")
	switch {
	case errors.As(f.Reach, &host):
		cure = either(f.key("tls.server_name", "a name of its certificate"), "a certificate for the host of url")
	case errors.As(f.Reach, &unknown):
		cure = f.key("tls.ca", "FILE with its authority")
	case errors.As(f.Reach, &invalid):
		cure = "renew the engine's certificate, or set the clocks"
	case errors.As(f.Reach, &record):
		cure = f.key("url", strings.Replace(f.Replica.URL, "https://", "http://", 1))
	}
	return fail(cure, "%s: %s: %v", f.Replica.URL, certs.Why(f.Reach), f.Reach)
}

func kind(f *Facts) Verdict {
	id := f.Identity
	switch {
	case f.IdentityErr != nil:
		return unasked("it did not say what it is: " + f.IdentityErr.Error())
	case id.Sure && id.Kind != f.Kind.Name:
		return fail(either(f.key("engine", id.Kind), "auto"), "declared %s, and it says that it is %s", f.Kind.Name,
			id.Kind)
	case id.Sure:
		return pass("%s, as it says itself", id.Kind)
	}
	return pass("taken for %s", f.Kind.Name)
}

func version(f *Facts) Verdict {
	since := f.Kind.Build.Since
	switch {
	case f.Build == "":
		return unasked("it tells no release")
	case older(f.Build, since):
		return warn("upgrade the engine to "+since+" or later", "%s; the oldest that was tried is %s", f.Build, since)
	}
	return pass("%s", f.Build)
}

// older returns true if both begin with numbers and the first are smaller.
func older(release, than string) bool {
	a, b := numbers(release), numbers(than)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// numbers returns the numbers that a release begins with, such as 0, 10 and 1 of v0.10.1.dev3; nil if there are none.
func numbers(release string) (all []int) {
	for part := range strings.SplitSeq(strings.TrimLeft(release, "vb"), ".") {
		digits := 0
		for digits < len(part) && part[digits] >= '0' && part[digits] <= '9' {
			digits++
		}
		n, err := strconv.Atoi(part[:digits])
		if err != nil {
			break
		}
		if all = append(all, n); digits < len(part) {
			break
		}
	}
	return all
}

func model(f *Facts) Verdict {
	name := f.Replica.Model
	listed := f.find(name) != nil
	unserved := !listed && f.Kind.Lists == engine.ListsServed && len(f.Models) > 0
	if unserved || isNotFound(f.First) {
		cure := start(f.Kind.Flags.Name, name, "")
		if len(f.Models) > 0 {
			cure = either(f.key("model", f.Models[0].ID), cure)
		}
		return fail(cure, "%s is not served; it lists %s", name, names(f.Models))
	}
	if err := f.locked(); err != nil {
		return fail(f.apiKey(), "%s: %v", f.Replica.URL, err)
	}
	if f.First != nil {
		return fail("look into the engine's log", "a request for %s failed: %v", name, f.First)
	}
	switch {
	case f.ModelsErr != nil:
		return unasked("it has no list of models")
	case !listed:
		return pass("it takes any name, and lists %s", names(f.Models))
	}
	return pass("%s", name)
}

// apiKey returns the key of the replica by which this program shows itself to the engine.
func (f *Facts) apiKey() string { return f.key("api_key", `"${ENGINE_KEY}"`) }

// locked returns how the engine refuses the replica's api_key; nil if it does not. An engine that has answered a
// request accepts it, even if it refuses to list its models.
func (f *Facts) locked() error {
	answered := f.Words != "" && f.First == nil
	switch {
	case isRefused(f.First):
		return f.First
	case isRefused(f.ModelsErr) && !answered:
		return f.ModelsErr
	}
	return nil
}

func isRefused(err error) bool {
	var said *openai.StatusError
	return errors.As(err, &said) && (said.Status == 401 || said.Status == 403)
}

func isNotFound(err error) bool {
	var said *openai.StatusError
	return errors.As(err, &said) && said.Status == 404 && said.Object && said.Message != "Not Found"
}

func names(list []openai.Model) string {
	if len(list) == 0 {
		return "nothing"
	}
	var all []string
	for _, m := range list[:min(len(list), 4)] {
		all = append(all, m.ID)
	}
	return strings.Join(all, ", ")
}

func contextLength(f *Facts) Verdict {
	limit, want := f.Identity.Limit, f.Specialist.Context
	switch {
	case limit == 0:
		return unasked("it does not tell its context")
	case want > limit:
		return fail(either(f.of("context", limit), start(f.Kind.Flags.Context, strconv.Itoa(want), "")),
			"%d tokens are configured, and the engine takes %d", want, limit)
	case want == 0:
		return pass("%d tokens, as the engine says", limit)
	}
	return pass("%d tokens, of the engine's %d", want, limit)
}

// maxSkew is how far clocks may differ before it is told: less is within what dates can say.
const maxSkew = 5 * time.Second

func clock(f *Facts) Verdict {
	ahead, known := f.Ahead, f.AheadErr == nil
	if f.Lagged && f.Lag < -maxSkew && f.Lag > -oldest {
		ahead, known = -f.Lag, true
	}
	if !known {
		return unasked("its answers have no date")
	}
	return skew(ahead, "the engine's machine")
}

func skew(ahead time.Duration, of string) Verdict {
	if ahead.Abs() > maxSkew {
		return warn("timedatectl set-ntp true, on "+of+" and here", "its clock is %s off", ahead.Round(time.Second))
	}
	return pass("within %s", maxSkew)
}
