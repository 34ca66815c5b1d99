package doctor

import (
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"octet/routing/events/natsstream"
)

// Fewest of what a stream is to keep: a gateway that restarts reads it from its start.
const (
	fewestKept  = 10_000 // messages, or entries
	fewestEach  = 1000   // of one replica
	fewestBytes = 16 << 20
	largest     = 1 << 20 // bytes of a message that are to pass: what servers take unless they are told otherwise
	shortestAge = 10 * time.Minute
)

func one(of string, v Verdict) []Named { return []Named{{of, v}} }

func redis(s *Shared) []Named {
	r := s.Events.Redis
	if r == nil {
		return nil
	}
	const set = "redis-cli CONFIG SET maxmemory-policy noeviction"
	at := &s.Redis
	switch {
	case s.RedisErr != nil:
		return one("redis", fail("events.redis.addr: where the server is", "%s: %v", r.Addr, s.RedisErr))
	case at.Kind != "" && !at.Exists:
		return one("redis", fail("events.redis.stream: a key of its own, or redis-cli DEL "+r.Stream,
			"%s is a %s, not a stream", r.Stream, at.Kind))
	case strings.HasPrefix(at.Policy, "allkeys") && at.MaxMemory > 0:
		return one("redis", fail(set, "with maxmemory-policy %s and %d bytes the stream itself may be evicted",
			at.Policy,
			at.MaxMemory))
	case strings.HasPrefix(at.Policy, "allkeys"):
		return one("redis", warn(set, "with maxmemory-policy %s the stream itself is evicted once there is a maxmemory",
			at.Policy))
	case at.MaxMemory > 0 && at.Used > at.MaxMemory/10*9:
		return one("redis", fail("redis-cli CONFIG SET maxmemory 0, or more than now",
			"%d of %d bytes are used: once all are, %s has new entries refused", at.Used, at.MaxMemory, at.Policy))
	case r.MaxLen > 0 && r.MaxLen < fewestKept:
		return one("redis", warn("events.redis.maxlen: 100000",
			"bridges keep %d entries: a gateway that restarts misses the rest",
			r.MaxLen))
	case at.Policy == "":
		return one("redis", pass("%d entries; its eviction policy may not be asked", at.Length))
	}
	return one("redis", pass("%d entries, %s", at.Length, at.Policy))
}

func nats(s *Shared) []Named {
	if s.Events.NATS == nil {
		return nil
	}
	if s.NATSErr != nil {
		return one("nats", fail("events.nats.url: where a server with JetStream is", "%s: %v", s.Events.NATS.URL,
			s.NATSErr))
	}
	return one("nats", stream(&s.NATS, s.Events.NATS.Subject))
}

// stream is the verdict on a JetStream stream that is to cover a subject.
func stream(at *natsstream.Standing, subject string) Verdict {
	c := &at.Config
	edit := "nats stream edit " + c.Name + " "
	switch {
	case !at.Exists:
		return pass("no stream yet: the first that needs it makes it")
	case c.Retention != jetstream.LimitsPolicy:
		return fail("nats stream rm "+c.Name+"; it is made anew with --retention=limits",
			"retention %s: what one reader has taken is gone for the others", c.Retention)
	case !covers(c.Subjects, subject):
		return fail(edit+"--subjects='"+subject+"'", "it keeps %s, and not %s", strings.Join(c.Subjects, ", "), subject)
	case c.MaxMsgsPerSubject > 0 && c.MaxMsgsPerSubject < fewestEach:
		return fail(edit+"--max-msgs-per-subject=-1", "it keeps %d messages of each replica", c.MaxMsgsPerSubject)
	case c.Discard == jetstream.DiscardNew && (c.MaxMsgs > 0 || c.MaxBytes > 0):
		return fail(edit+"--discard=old", "once it is full, new messages are refused")
	}
	return keeps(at, edit)
}

// keeps is the verdict on how much a JetStream stream keeps.
func keeps(at *natsstream.Standing, edit string) Verdict {
	c := &at.Config
	switch {
	case c.MaxMsgs > 0 && c.MaxMsgs < fewestKept:
		return warn(edit+"--max-msgs=100000", "it keeps %d messages: a gateway that restarts misses the rest",
			c.MaxMsgs)
	case c.MaxBytes > 0 && c.MaxBytes < fewestBytes:
		return warn(edit+"--max-bytes=268435456", "it keeps %d bytes: a gateway that restarts misses the rest",
			c.MaxBytes)
	case c.MaxMsgSize > 0 && c.MaxMsgSize < largest:
		return fail(edit+"--max-msg-size=-1", "batches of more than %d bytes are refused", c.MaxMsgSize)
	case c.MaxAge > 0 && c.MaxAge < shortestAge:
		return warn(edit+"--max-age=1h", "it keeps messages for %s", c.MaxAge)
	}
	return pass("%d messages", at.Length)
}

// covers returns true if one of a stream's subjects covers subject.
func covers(subjects []string, subject string) bool {
	base := strings.TrimRight(subject, ">*")
	for _, s := range subjects {
		if s == subject || s == ">" || strings.HasSuffix(s, ">") && strings.HasPrefix(base, strings.TrimSuffix(s,
			">")) {
			return true
		}
	}
	return false
}

func jwks(s *Shared) []Named {
	at := s.Issuer
	if at == nil {
		return nil
	}
	const cure = "auth.jwt.jwks: where the issuer's keys are; auth.jwt.ca, where its authority is a private one"
	switch age := at.Age.Round(time.Second); {
	case at.Err != nil && (at.Keys == 0 || at.Age > at.KeepFor):
		return one("jwks", fail(cure, "%s: %v: no token is accepted", at.JWKS, at.Err))
	case at.Err != nil:
		return one("jwks", warn(cure, "%s: %v: the %d keys of %s ago serve for %s more", at.JWKS, at.Err, at.Keys, age,
			(at.KeepFor-at.Age).Round(time.Second)))
	default:
		return one("jwks", pass("%d keys, read %s ago", at.Keys, age))
	}
}

func sharedClock(s *Shared) (all []Named) {
	if s.Events.Redis != nil && s.RedisErr == nil {
		all = append(all, Named{"redis", skew(s.Redis.Ahead, "its machine")})
	}
	if s.Events.NATS != nil && s.NATSErr == nil && s.NATS.Exists {
		all = append(all, Named{"nats", skew(s.NATS.Ahead, "its machine")})
	}
	switch {
	case s.Events.Snapshot.Peer == "":
	case s.PeerErr != nil:
		all = append(all, Named{"peer", warn("events.snapshot.peer: where it listens", "%s: %v", s.Events.Snapshot.Peer,
			s.PeerErr)})
	default:
		all = append(all, Named{"peer", skew(s.Peer, "its machine")})
	}
	return all
}
