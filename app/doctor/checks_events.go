package doctor

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"octet/engine"
	"octet/routing/events/zmqstream"
)

// own returns true if the replica has a socket of its own.
func (f *Facts) own() bool { return f.Replica.Events != nil && f.Replica.Events.ZMQ != "" }

// listens returns true if the engine is to dial there.
func (f *Facts) listens() bool {
	at := strings.TrimPrefix(f.Replica.Events.ZMQ, "tcp://")
	return strings.HasPrefix(at, "*:") || strings.HasPrefix(at, "0.0.0.0:") || strings.HasPrefix(at, "[::]:")
}

// port returns the port of an endpoint; PORT if it has none.
func port(endpoint string) string {
	if _, p, err := net.SplitHostPort(strings.TrimPrefix(endpoint, "tcp://")); err == nil {
		return p
	}
	return "PORT"
}

// publish returns the option that has the engine publish at endpoint, and replay at another.
func (f *Facts) publish(endpoint, again string) string {
	flags := f.Kind.Flags
	if flags.Events == "" {
		return "publish cache events at " + endpoint
	}
	text := fmt.Sprintf(`%s '{%s,"endpoint":%q`, flags.Events, flags.EventsOn, endpoint)
	if again != "" {
		text += fmt.Sprintf(`,"replay_endpoint":%q`, again)
	}
	return "start the engine with " + text + "}'"
}

// bound returns the endpoints that make the engine listen where the gateway dials.
func (f *Facts) bound() (live, again string) {
	live = "tcp://*:" + port(f.Replica.Events.ZMQ)
	if f.Replica.Events.Replay != "" {
		again = "tcp://*:" + port(f.Replica.Events.Replay)
	}
	return live, again
}

func connects(f *Facts) Verdict {
	switch {
	case f.Met:
		return pass("the gateway is connected to %s", f.Replica.Events.ZMQ)
	case f.Source == "" && !f.own():
		return pass("no source is configured: what is routed there counts")
	case f.Open || f.Source == "":
		return pass("%s", f.Source)
	case errors.Is(f.HearErr, zmqstream.ErrTaken) && f.Known == nil:
		return pass("%s is in use: if it is the gateway's, ask that: octet doctor --admin URL", f.Source)
	case !f.own():
		return fail("see the finding on "+f.Source, "%s: %v", f.Source, f.HearErr)
	case f.listens():
		return fail(either(f.publish("tcp://THIS HOST:"+port(f.Replica.Events.ZMQ), ""),
			f.key("events.zmq", `"tcp://{host}:`+port(f.Replica.Events.ZMQ)+`"`)+
				" where the engine's own endpoint has a * (it then listens, and so does the gateway)"),
			"nothing connects to %s", f.Replica.Events.ZMQ)
	}
	live, again := f.bound()
	return fail(either(f.publish(live, again)+" (with a host in its endpoint it dials, and so does the gateway)",
		f.key("events.zmq", `"tcp://*:`+port(live)+`"`)+" to have the gateway listen"),
		"nothing listens at %s: %v", f.Replica.Events.ZMQ, f.HearErr)
}

func topic(f *Facts) Verdict {
	if !f.own() || len(f.Topics) == 0 {
		return pass("no topics were heard")
	}
	want := f.Replica.Events.Topic
	for _, t := range f.Topics {
		if strings.HasPrefix(t, want) {
			return pass("%q", t)
		}
	}
	return fail(f.key("events.topic", fmt.Sprintf("%q", f.Topics[0])),
		"topics begin with %q, and %q is listened to: nothing passes", f.Topics[0], want)
}

func silent(f *Facts) Verdict {
	switch {
	case f.Source == "" && !f.own() && (f.Known == nil || !f.Moved):
		return pass("no source is configured")
	case !f.publishes():
		return unasked("engines of this kind publish nothing")
	case f.Why != "" || f.First != nil:
		return unasked("no request was made")
	case len(f.Stored) > 0:
		return pass("%d batches, blocks of %d tokens", f.Batches, f.Stored[0].BlockSize)
	case f.Moved:
		return pass("its events came")
	}
	return f.silence()
}

// silence is the verdict on a replica of whose new prompt nothing was heard.
func (f *Facts) silence() Verdict {
	switch {
	case f.Source != "" && !f.Open:
		return Verdict{} // events.connect says why
	case f.Kind.Hashes == engine.HashesUnknown:
		return pass("nothing came; servers of this kind need not publish")
	case f.Bad > 0:
		return fail("upgrade the gateway, or the engine", "%d messages came, and none can be read", f.Bad)
	case len(f.Others) > 0:
		return fail(either(f.key("name", f.Others[0]), "give its publisher the name "+f.Replica.Name),
			"%s tells nothing of it, and of %s, which are no replicas here", f.Source, strings.Join(f.Others, ", "))
	case f.own():
		live, again := f.bound()
		return fail(either(f.publish(live, again), start(f.Kind.Flags.PrefixCache, "", "")),
			"%s is there, and tells nothing of a new prompt of %d tokens", f.Source, f.Prompt)
	}
	return fail("run octet bridge beside the engine with --replica "+f.Replica.Name+", or "+
		f.key("events.zmq", `"tcp://{host}:5557"`), "%s tells nothing of a new prompt of %d tokens", f.Source, f.Prompt)
}

func replay(f *Facts) Verdict {
	if !f.own() {
		return pass("not needed")
	}
	live, again := f.bound()
	switch at := f.Replica.Events.Replay; {
	case at == "":
		next := "tcp://*:5558"
		return warn(f.publish(live, next)+", and "+f.key("events.replay", `"tcp://{host}:5558"`),
			"there is none: what is lost stays lost")
	case f.KeptErr != nil && f.Reach != nil:
		return Verdict{}
	case f.KeptErr != nil:
		return fail(f.publish(live, again), "%s: %v", at, f.KeptErr)
	case f.Kept.First > 1 && f.Kept.Batches < keptMost:
		return warn(`"buffer_steps":10000 in its `+f.Kind.Flags.Events,
			"only the last %d batches can be had again", f.Kept.Batches)
	case f.Kept.Batches >= keptMost:
		return pass("%d batches and more can be had again", f.Kept.Batches)
	}
	return pass("all %d batches can be had again", f.Kept.Batches)
}

func publisher(f *Facts) Verdict {
	if n, ranked := f.Replica.Rank().Number(); ranked && f.own() {
		for _, heard := range f.Ranks {
			if heard != n {
				return fail(f.key("events.zmq", "the port of rank 0, plus "+fmt.Sprint(n)),
					"%s tells of rank %d, and this is rank %d", f.Source, heard, n)
			}
		}
	}
	if f.Known != nil && len(f.Known.Publishers.Challengers) > 0 {
		return warn(f.key("events.source", "the one that is right")+", or stop the other",
			"%s speaks for it, and %s would too",
			strings.Join(f.Known.Publishers.Bound, ", "), strings.Join(f.Known.Publishers.Challengers, ", "))
	}
	if len(f.By) > 1 {
		return warn("stop all but one, or give them names of their own", "%s speak for it", strings.Join(f.By, " and "))
	}
	if f.Known != nil && len(f.Known.Publishers.Bound) > 0 {
		return pass("%s", strings.Join(f.Known.Publishers.Bound, ", "))
	}
	return pass("one")
}

func gaps(f *Facts) Verdict {
	cure := either(f.key("events.replay", `"tcp://{host}:5558"`), "a longer buffer_steps in the engine")
	if !f.own() {
		cure = "events.resync_path, or limits of the stream that keep more"
	}
	switch {
	case f.Known != nil && f.Known.Stale:
		return warn(cure, "batches of this life are missing, %d times: it is scored %s", f.Known.Gaps, f.Known.Trust)
	case f.Gaps > 0:
		return warn(cure, "%d gaps in the numbers of %d batches", f.Gaps, f.Batches)
	}
	return pass("none")
}

// maxLag is how late events may be before it is told. What is told live is never oldest late: such publishers write
// something else than the time.
const (
	maxLag = 2 * time.Second
	oldest = 24 * time.Hour
)

func lag(f *Facts) Verdict {
	skewed := f.AheadErr == nil && f.Ahead.Abs() > maxSkew
	switch {
	case !f.Lagged || skewed || f.Lag > oldest:
		return pass("not known")
	case f.Lag > maxLag:
		return warn("look at the load of the engine's machine and at the way to "+f.Source, "events are %s late",
			f.Lag.Round(time.Millisecond))
	}
	return pass("%s", max(f.Lag, 0).Round(time.Millisecond))
}
