package intake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"octet/gateway/apierr"
	"octet/gateway/tenant"
	"octet/routing"
)

// maxHeaderValue bounds opaque header values, such as session keys, in bytes.
const maxHeaderValue = 256

// Intent is what the headers of a request say to the router.
type Intent struct {
	Intent       string
	Adapter      string
	Session      string    // see findSession
	Priority     int       // clamped
	Asked        int       // before clamping
	Deadline     time.Time // zero means none
	TTFTDeadline time.Time // of the first token; zero means none
	Explain      bool
	Headers      routing.Headers // that plugins may see
	Replica      string          // the one that is to answer; "" leaves the choice to the router
}

// readIntent validates the headers in which a client speaks to the router.
func readIntent(h *headers, t *tenant.Tenant, intents []string, arrival time.Time) (in Intent, err *apierr.Error) {
	in.Explain = h.explains()
	if !h.asks {
		in.Priority = min(0, t.PriorityMax)
		return in, nil
	}
	if in.Intent, err = headerToken(h.intent, "X-Intent"); err != nil {
		return in, err
	}
	if in.Intent == "unspecified" {
		in.Intent = ""
	}
	if in.Intent != "" && !slices.Contains(intents, in.Intent) {
		return in, apierr.New(apierr.InvalidValue, "X-Intent", fmt.Sprintf("unknown intent %q", in.Intent))
	}
	if in.Adapter, err = headerToken(h.adapter, "X-Adapter"); err != nil {
		return in, err
	}
	if in.Session, err = headerToken(h.session, sessionHeader); err != nil {
		return in, err
	}
	if in.Replica, err = readReplica(h, t); err != nil {
		return in, err
	}
	if in.Asked, in.Priority, err = readPriority(h.priority, t); err != nil {
		return in, err
	}
	if in.Deadline, err = readDeadline(h.deadline, arrival, "X-Deadline-Ms"); err != nil {
		return in, err
	}
	in.TTFTDeadline, err = readDeadline(h.ttftDeadline, arrival, "X-TTFT-Deadline-Ms")
	return in, err
}

// headerToken returns a header's single value: printable, and at most maxHeaderValue bytes.
func headerToken(values []string, name string) (string, *apierr.Error) {
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", apierr.Repeated(name)
	}
	v := values[0]
	if len(v) > maxHeaderValue {
		return "", apierr.New(apierr.InvalidValue, name,
			fmt.Sprintf("the value is %d bytes, the limit is %d", len(v), maxHeaderValue))
	}
	for i := range len(v) {
		if v[i] < ' ' || v[i] == 0x7f {
			return "", apierr.New(apierr.InvalidValue, name, "the value holds control characters")
		}
	}
	return strings.Clone(v), nil // a copy: the value outlives the head
}

// readOffered returns the headers that plugins may see.
func readOffered(all []offer) (routing.Headers, *apierr.Error) {
	headers := make(routing.Headers, len(all))
	for i, o := range all {
		value, err := headerToken(o.values, o.name)
		if err != nil {
			return nil, err
		}
		headers[i] = routing.Header{Name: o.name, Value: value}
	}
	return headers, nil
}

// The range of X-Priority; larger is more urgent.
const (
	PriorityLeast = -100
	PriorityMost  = 100
)

// readPriority returns the priority that is asked for, and as the tenant may have it. Where none is asked for it is 0,
// or the tenant's ceiling if that is lower: that is never refused.
func readPriority(values []string, t *tenant.Tenant) (asked, clamped int, err *apierr.Error) {
	v, err := headerToken(values, "X-Priority")
	if err != nil {
		return 0, 0, err
	}
	if v == "" {
		return 0, min(0, t.PriorityMax), nil
	}
	asked, bad := strconv.Atoi(v)
	if bad != nil || asked < PriorityLeast || asked > PriorityMost {
		return 0, 0, apierr.New(apierr.InvalidValue, "X-Priority",
			"the priority must be an integer from -100 to 100")
	}
	clamped, err = t.Clamp(asked)
	return asked, clamped, err
}

// maxDeadline keeps deadline arithmetic far from overflow.
const maxDeadline = 24 * time.Hour

// readDeadline returns the point in time of a deadline in milliseconds; zero without one.
func readDeadline(values []string, arrival time.Time, name string) (time.Time, *apierr.Error) {
	v, err := headerToken(values, name)
	if err != nil || v == "" {
		return time.Time{}, err
	}
	ms, bad := strconv.ParseInt(v, 10, 64)
	if bad != nil || ms < 1 || ms > maxDeadline.Milliseconds() {
		return time.Time{}, apierr.New(apierr.InvalidValue, name,
			fmt.Sprintf("the deadline must be whole milliseconds from 1 to %d", maxDeadline.Milliseconds()))
	}
	return arrival.Add(time.Duration(ms) * time.Millisecond), nil
}

// TotalLeft returns what is left of the deadline: zero without a deadline, and never zero with one.
func (in *Intent) TotalLeft(now time.Time) time.Duration { return left(now, in.Deadline) }

// FirstTokenLeft returns what is left of the first token's deadline: zero without a deadline, and once the client has
// its first token; never zero otherwise.
func (in *Intent) FirstTokenLeft(now time.Time, delivered bool) time.Duration {
	if delivered {
		return 0
	}
	return left(now, in.TTFTDeadline)
}

// left returns zero without a deadline, and never zero with one.
func left(now, deadline time.Time) time.Duration {
	if deadline.IsZero() {
		return 0
	}
	if left := deadline.Sub(now); left != 0 {
		return left
	}
	return -1
}
