package doctor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
)

// facts returns those of a replica of a kind, with events of a Redis or a socket of its own.
func facts(change func(*Facts)) *Facts {
	kind, _ := engine.AllKinds().Named("vllm")
	f := &Facts{Kind: kind, Subject: &Subject{Path: "specialists[0].replicas[0]",
		Specialist: &config.Specialist{Name: "coder", BlockSize: 16},
		Replica:    &config.Replica{Name: "coder-0", Events: &config.ReplicaEvents{Source: "auto"}}}}
	f.Source, f.Open = "redis", true
	change(f)
	return f
}

func socket(f *Facts) {
	f.Replica.Events.ZMQ, f.Replica.Events.Replay = "tcp://h:5557", "tcp://h:5558"
	f.Source = f.Replica.Events.ZMQ
}

// Issue 22: what a running gateway knows of a replica, what was heard of it, and its clock: each fault is told with its
// cure, and what is sound, or is not known, is none.
func TestWhatIsKnownAndHeardIsJudged(t *testing.T) {
	known := func(k Known) func(*Facts) { return func(f *Facts) { f.Known = &k } }
	rank := func(is int, heard ...int) func(*Facts) {
		return func(f *Facts) {
			socket(f)
			f.Replica.DPRank, f.Ranks = &is, heard
		}
	}
	says := func(status int) error { return &openai.StatusError{Status: status, Message: "no"} }
	late := func(by time.Duration) func(*Facts) { return func(f *Facts) { f.Lag, f.Lagged = by, true } }
	for _, c := range []struct {
		name, check, status, says, cure string
		change                          func(*Facts)
	}{
		{"no gateway is asked", "hits", Pass, "octet doctor --admin", "", func(*Facts) {}},
		{"too few hits to tell", "hits", Pass, "19 answers", "", known(Known{Part: 9, Missing: 10})},
		{"half of the hits", "hits", Pass, "of 20 predicted hits 10", "", known(Known{All: 10, Missing: 10})},
		{"fewer than half", "hits", Warn, "of 20 predicted hits 9 were delivered whole, 5 in part; it is scored exact",
			"GET /admin/index", known(Known{All: 9, Part: 5, Missing: 6, Trust: "exact"})},

		{"no gaps", "events.gaps", Pass, "none", "", func(f *Facts) { f.Batches = 9 }},
		{"gaps that were mended", "events.gaps", Pass, "none", "", known(Known{Gaps: 3})},
		{"gaps of a shared stream", "events.gaps", Warn, "2 gaps in the numbers of 9 batches", "events.resync_path",
			func(f *Facts) { f.Batches, f.Gaps = 9, 2 }},
		{"gaps of a socket", "events.gaps", Warn, "1 gaps", `events.replay: "tcp://{host}:5558"`, func(f *Facts) {
			socket(f)
			f.Gaps = 1
		}},
		{"a gap that the gateway has", "events.gaps", Warn, "4 times: it is scored approximate", "resync_path",
			known(Known{Stale: true, Gaps: 4, Trust: "approximate"})},

		{"no time is told", "events.lag", Pass, "not known", "", func(*Facts) {}},
		{"in time", "events.lag", Pass, "1.5s", "", late(1500 * time.Millisecond)},
		{"late", "events.lag", Warn, "3s late", "the way to redis", late(3 * time.Second)},
		{"not a time", "events.lag", Pass, "not known", "", late(50 * 365 * 24 * time.Hour)},
		{"a clock that is off", "events.lag", Pass, "not known", "", func(f *Facts) {
			late(time.Hour)(f)
			f.Ahead = -time.Hour
		}},

		{"a clock in time", "clock", Pass, "within", "", func(f *Facts) { f.Ahead = -time.Second }},
		{"a clock behind", "clock", Warn, "-1h0m0s off", "timedatectl", func(f *Facts) { f.Ahead = -time.Hour }},
		{"events of the future", "clock", Warn, "1m0s off", "timedatectl", late(-time.Minute)},
		{"events of no time", "clock", Pass, "within", "", late(-50 * 365 * 24 * time.Hour)},
		{"no date", "clock", Pass, "no date", "", func(f *Facts) { f.AheadErr = errors.New("none") }},

		{"a key that requests lack", "model", Fail, "status 401: no", "specialists[0].replicas[0].api_key",
			func(f *Facts) { f.Words, f.First = "hello", says(401) }},
		{"a key that the list of models lacks", "model", Fail, "status 403: no", "specialists[0].replicas[0].api_key",
			func(f *Facts) { f.Why, f.ModelsErr = "not asked at connect", says(403) }},
		{"a list of models that others may see", "model", Pass, "no list of models", "",
			func(f *Facts) { f.Words, f.ModelsErr = "hello", says(403) }},
		{"an engine that fails", "model", Fail, "status 500: no", "the engine's log",
			func(f *Facts) { f.Words, f.First = "hello", says(500) }},

		{"its rank", "events.publisher", Pass, "one", "", rank(3, 3)},
		{"no rank is told", "events.publisher", Pass, "one", "", rank(3)},
		{"another rank", "events.publisher", Fail, "tells of rank 0, and this is rank 3",
			"events.zmq: the port of rank 0, plus 3", rank(3, 0)},
		{"its rank and another", "events.publisher", Fail, "tells of rank 1", "plus 0", rank(0, 0, 1)},
		{"ranks of a whole engine", "events.publisher", Pass, "one", "", func(f *Facts) {
			socket(f)
			f.Ranks = []int{0, 1}
		}},
		{"a challenger", "events.publisher", Warn, "redis/a speaks for it, and redis/b would too", "events.source",
			known(Known{Publishers: events.Publishers{Bound: []string{"redis/a"}, Challengers: []string{"redis/b"}}})},
		{"two speak", "events.publisher", Warn, "a and b speak for it", "stop all but one",
			func(f *Facts) { f.By = []string{"a", "b"} }},
		{"its publisher", "events.publisher", Pass, "redis/a", "",
			known(Known{Publishers: events.Publishers{Bound: []string{"redis/a"}}})},
	} {
		f := facts(c.change)
		for i := range Checks {
			if Checks[i].Name != c.check {
				continue
			}
			v := Checks[i].Look(f)
			if v.Status != c.status || !strings.Contains(v.Detail, c.says) || !strings.Contains(v.Cure, c.cure) ||
				(v.Cure == "") != (c.status == Pass) {
				t.Errorf("%s: %s is %+v, not %s, %q, %q", c.name, c.check, v, c.status, c.says, c.cure)
			}
		}
	}
}

// Issue 22: the clocks of what all replicas share.
func TestClocksOfStoresAndPeersAreJudged(t *testing.T) {
	all := config.Events{Redis: &config.Redis{}, NATS: &config.NATS{}, Snapshot: config.Snapshot{Peer: "http://peer"}}
	at := func(redis, nats, peer time.Duration) *Shared {
		return &Shared{Events: all, Redis: redisstream.Standing{Ahead: redis},
			NATS: natsstream.Standing{Exists: true, Ahead: nats}, Peer: peer}
	}
	gone := at(time.Hour, time.Hour, time.Hour)
	gone.RedisErr, gone.NATSErr, gone.PeerErr = errors.New("gone"), errors.New("gone"), errors.New("gone")
	for _, c := range []struct {
		name string
		of   *Shared
		want map[string]string // what is named to words of its cure
	}{
		{"nothing is shared", &Shared{}, nil},
		{"all in time", at(time.Second, -time.Second, 4*time.Second), nil},
		{"redis", at(time.Minute, 0, 0), map[string]string{"redis": "timedatectl set-ntp true"}},
		{"nats", at(0, -time.Minute, 0), map[string]string{"nats": "timedatectl set-ntp true"}},
		{"the peer", at(0, 0, 6*time.Second), map[string]string{"peer": "timedatectl set-ntp true"}},
		{"what cannot be asked", gone, map[string]string{"peer": "events.snapshot.peer"}},
	} {
		found := map[string]string{}
		for _, v := range sharedClock(c.of) {
			if v.Status != Pass {
				found[v.Of] = v.Cure
			}
		}
		for of, cure := range c.want {
			if !strings.Contains(found[of], cure) {
				t.Errorf("%s: of %s: %q, not %q", c.name, of, found[of], cure)
			}
			delete(found, of)
		}
		for of, cure := range found {
			t.Errorf("%s: a false alarm on %s: %s", c.name, of, cure)
		}
	}
}

// Issue 22: an ear counts gaps within one life of a publisher, and no batch that comes again.
func TestAnEarCountsGapsWithinOneLife(t *testing.T) {
	type at struct{ epoch, seq uint64 }
	for name, c := range map[string]struct {
		heard []at
		gaps  int
	}{
		"in order":                      {[]at{{1, 4}, {1, 5}, {1, 6}}, 0},
		"one is missing":                {[]at{{1, 4}, {1, 6}}, 1},
		"two times some are missing":    {[]at{{1, 4}, {1, 9}, {1, 10}, {1, 20}}, 2},
		"a batch comes again":           {[]at{{1, 4}, {1, 5}, {1, 4}, {1, 6}}, 0},
		"a life ends":                   {[]at{{1, 4}, {2, 1}, {2, 2}}, 0},
		"a life ends and is heard late": {[]at{{1, 4}, {2, 7}, {2, 8}}, 0},
		"two publishers":                {[]at{{1, 4}, {2, 1}, {1, 5}, {2, 2}, {1, 6}}, 0},
		"two publishers, one with gaps": {[]at{{1, 4}, {2, 1}, {1, 5}, {2, 3}, {1, 6}}, 1},
	} {
		e := &ear{opened: make(chan struct{}), by: map[string]*Heard{}, seq: map[life]uint64{}}
		for _, b := range c.heard {
			e.note(events.Batch{Replica: "coder-0", Epoch: b.epoch, Seq: b.seq}, func(*Heard) {})
		}
		if h := e.of("coder-0"); h.Gaps != c.gaps || h.Batches != len(c.heard) {
			t.Errorf("%s: %d gaps of %d batches", name, h.Gaps, h.Batches)
		}
	}
}
