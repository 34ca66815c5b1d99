package doctor

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/config"
	"octet/gateway/api"
	"octet/internal/await"
	"octet/internal/natsserver"
	"octet/internal/redistest"
)

// shared returns what is found of stores alone, but for what passes.
func shared(t *testing.T, e config.Events) (troubles []api.Finding) {
	t.Helper()
	for _, f := range Examine(t.Context(), &Cell{Events: e}) {
		if f.Status != Pass {
			troubles = append(troubles, f)
		}
	}
	return troubles
}

// found fails unless one fault was found, of that status and with words of that cure; "" is none at all.
func found(t *testing.T, name string, troubles []api.Finding, check, status, cure string) {
	t.Helper()
	switch {
	case status == "" && len(troubles) > 0:
		t.Errorf("%s: a false alarm: %+v", name, troubles)
	case status == "":
	case len(troubles) != 1 || troubles[0].Check != check || troubles[0].Status != status ||
		!strings.Contains(troubles[0].Cure, cure):
		t.Errorf("%s: %+v, and not %s with %q", name, troubles, status, cure)
	}
}

// Issue 22: a redis-server that loses events, or will, is found by what it says of itself.
func TestARedisThatLosesEventsIsFound(t *testing.T) {
	s := redistest.Start(t)
	const policy = "maxmemory-policy"
	at := config.Redis{Addr: s.Addr, Stream: "octet:kv"}
	for _, c := range []struct {
		name         string
		does         []string // commands
		maxLen       int64
		status, cure string
	}{
		{name: "fresh"},
		{name: "with entries", does: []string{"XADD octet:kv * k v"}},
		{name: "bounded memory", does: []string{"CONFIG SET maxmemory 512mb"}},
		{name: "evicting what has a lifetime", does: []string{"CONFIG SET " + policy + " volatile-lru"}},
		{"evicting all, one day", []string{"CONFIG SET " + policy + " allkeys-lru"}, 0, Warn,
			policy + " noeviction"},
		{"evicting all", []string{"CONFIG SET " + policy + " allkeys-lfu", "CONFIG SET maxmemory 512mb"}, 0, Fail,
			policy + " noeviction"},
		{"full", []string{"CONFIG SET maxmemory 100kb"}, 0, Fail, "CONFIG SET maxmemory 0"},
		{"a stream that keeps little", nil, 500, Warn, "events.redis.maxlen: 100000"},
		{name: "a stream that keeps enough", maxLen: 50_000},
		{"another key", []string{"DEL octet:kv", "SET octet:kv 1"}, 0, Fail, "redis-cli DEL octet:kv"},
		{name: "memory is not told", does: []string{"DEL octet:kv", "ACL SETUSER default -info"}},
	} {
		for _, reset := range []string{"CONFIG SET maxmemory 0", "CONFIG SET " + policy + " noeviction"} {
			do(t, s, reset)
		}
		for _, command := range c.does {
			do(t, s, command)
		}
		r := at
		r.MaxLen = c.maxLen
		found(t, c.name, shared(t, config.Events{Redis: &r}), "redis", c.status, c.cure)
	}
	s.Kill()
	found(t, "down", shared(t, config.Events{Redis: &at}), "redis", Fail, "events.redis.addr")
}

func do(t *testing.T, s *redistest.Server, command string) {
	t.Helper()
	if said, err := s.Do(strings.Fields(command)...); err != nil || strings.HasPrefix(said, "-") {
		t.Fatalf("%s: %v, %q", command, err, said)
	}
}

// Issue 22: a JetStream stream whose limits lose events is found, and what is to be pasted mends it.
func TestAStreamThatLosesEventsIsFound(t *testing.T) {
	js, url := jetStream(t)
	at := config.Events{NATS: &config.NATS{URL: url, Subject: "octet.kv.>", Stream: "OCTET_KV"}}
	found(t, "no stream", shared(t, at), "nats", "", "")
	for _, c := range []struct {
		name         string
		change       func(*jetstream.StreamConfig)
		status, cure string
	}{
		{"as it is made", func(c *jetstream.StreamConfig) {
			c.MaxMsgs, c.MaxBytes, c.Discard = 100_000, 256<<20, jetstream.DiscardOld
		}, "", ""},
		{"without limits", func(*jetstream.StreamConfig) {}, "", ""},
		{"under a wider subject", func(c *jetstream.StreamConfig) { c.Subjects = []string{"octet.>"} }, "", ""},
		{"few messages", func(c *jetstream.StreamConfig) { c.MaxMsgs = 100 }, Warn, "--max-msgs=100000"},
		{"few of each replica", func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, Fail,
			"--max-msgs-per-subject=-1"},
		{"few bytes", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }, Warn, "--max-bytes=268435456"},
		{"small messages", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 512 }, Fail, "--max-msg-size=-1"},
		{"for a moment", func(c *jetstream.StreamConfig) { c.MaxAge = time.Minute }, Warn, "--max-age=1h"},
		{"new ones are refused", func(c *jetstream.StreamConfig) {
			c.MaxMsgs, c.Discard = 100_000, jetstream.DiscardNew
		}, Fail, "--discard=old"},
		{"for one reader", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, Fail,
			"--retention=limits"},
		{"of another subject", func(c *jetstream.StreamConfig) { c.Subjects = []string{"other.>"} }, Fail,
			"--subjects='octet.kv.>'"},
		{"of one replica", func(c *jetstream.StreamConfig) { c.Subjects = []string{"octet.kv.coder"} }, Fail,
			"--subjects='octet.kv.>'"},
	} {
		is := jetstream.StreamConfig{Name: "OCTET_KV", Subjects: []string{"octet.kv.>"},
			Storage: jetstream.MemoryStorage}
		c.change(&is)
		await.True(t, "the stream before it is gone", func() bool {
			_, err := js.CreateStream(t.Context(), is)
			return err == nil
		})
		found(t, c.name, shared(t, at), "nats", c.status, c.cure)
		if err := js.DeleteStream(t.Context(), is.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// Issue 22: nor is a server that is none, or keeps no streams.
func TestANATSThatCannotKeepEventsIsFound(t *testing.T) {
	bare := natsserver.RunWith(t, server.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "nats://127.0.0.1:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	for name, url := range map[string]string{"without JetStream": bare.ClientURL(), "down": gone} {
		at := config.Events{NATS: &config.NATS{URL: url, Subject: "octet.kv.>", Stream: "OCTET_KV"}}
		found(t, name, shared(t, at), "nats", Fail, "where a server with JetStream is")
	}
}

func jetStream(t *testing.T) (jetstream.JetStream, string) {
	t.Helper()
	s := natsserver.Run(t)
	conn, err := client.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js, s.ClientURL()
}
