package cmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"octet/app/doctor"
	"octet/engine/emulator"
	"octet/gateway/api"
	"octet/internal/await"
	"octet/internal/natsserver"
	"octet/routing/events/enginehash"
	"octet/routing/events/zmqstream"
)

// planted is something that is wrong with one replica, and what is to be found: the cure has these words.
type planted struct {
	name       string
	engine     func(*emulator.Config)
	tamper     func(path string, status int, body []byte) (int, []byte)
	when       string // tampered with are answers to requests whose body has it
	refuse     string // requests whose body has it are refused
	specialist string // keys of the specialist
	replica    string // further keys of the replica
	model      string // that is asked for, if another
	topic      string // that is published
	mute       bool   // the engine publishes nothing
	down       bool   // nothing listens
	deaf       bool   // no event socket is there
	noReplay   bool
	late       time.Duration
	found      map[string]string // check to words of its cure
}

func replaced(at, from, to string) func(string, int, []byte) (int, []byte) {
	return func(path string, status int, body []byte) (int, []byte) {
		if strings.HasPrefix(path, at) {
			body = bytes.ReplaceAll(body, []byte(from), []byte(to))
		}
		return status, body
	}
}

var seededFaults = []planted{
	{name: "down", down: true, found: map[string]string{"reachable": "start the engine"}},
	{name: "othermodel", model: "typo", found: map[string]string{"model": "replicas[0].model: coder"}},
	{name: "locked", tamper: func(path string, status int, body []byte) (int, []byte) {
		if strings.HasPrefix(path, "/v1/") {
			return http.StatusUnauthorized, []byte(`{"error":{"message":"invalid api key"}}`)
		}
		return status, body
	}, found: map[string]string{"model": "replicas[0].api_key: "}},
	{name: "otherkind", tamper: replaced("/v1/models", `"owned_by":"octet"`, `"owned_by":"sglang"`),
		found: map[string]string{"engine": "replicas[0].engine: sglang"}},
	{name: "old", tamper: replaced("/version", "octet-emulator", "0.6.3"),
		found: map[string]string{"version": "0.10.0"}},
	{name: "short", engine: func(c *emulator.Config) { c.MaxModelLen = 4096 }, specialist: "context: 65536",
		found: map[string]string{"context": "context: 4096"}},
	{name: "blocks", engine: func(c *emulator.Config) { c.BlockSize = 32 }, specialist: "block_size: 24",
		found: map[string]string{"block_size": "block_size: 32"}},
	{name: "multiple", engine: func(c *emulator.Config) { c.BlockSize = 32 }, specialist: "block_size: 16",
		found: map[string]string{"block_size": "block_size: 32"}},
	{name: "pool", replica: ", blocks: 9999", found: map[string]string{"pool": "blocks: 4096"}},
	{name: "tokens", tamper: replaced("/tokenize", `"tokens":[`, `"tokens":[7,`),
		found: map[string]string{"tokens": "tokenizer: the tokenizer.json"}},
	{name: "template", tamper: replaced("/tokenize", `"tokens":[`, `"tokens":[7,`), when: `"messages"`,
		found: map[string]string{"tokens": "chat_template:"}},
	{name: "tools", tamper: replaced("/tokenize", `"tokens":[`, `"tokens":[7,`), when: `"tools"`,
		found: map[string]string{"tokens": "chat_template:"}},
	{name: "adapter", specialist: "adapters: [{name: gdb}]",
		found: map[string]string{"adapters": "a path for the adapter gdb"}},
	{name: "dark", tamper: func(path string, status int, body []byte) (int, []byte) {
		if path == "/metrics" {
			status = http.StatusNotFound
		}
		return status, body
	}, found: map[string]string{"metrics": "--disable-log-stats"}},
	{name: "renamed", tamper: replaced("/metrics", "vllm:num_requests_", "vllm:requests_"),
		found: map[string]string{"metrics": "release that is known to work"}},
	{name: "nameless", tamper: replaced("/metrics", "vllm:", "engine_"),
		found: map[string]string{"metrics": "--disable-log-stats"}},
	{name: "unordered", refuse: `"priority"`, replica: ", forward_priority: true",
		found: map[string]string{"priority": "--scheduling-policy priority"}},
	{name: "terse", tamper: replaced("/v1/completions", `"prompt_tokens_details"`, `"prompt_tokens_nothing"`),
		found: map[string]string{"cache_report": "--enable-prompt-tokens-details"}},
	{name: "bothdial", deaf: true, found: map[string]string{"events.connect": `"endpoint":"tcp://*:`,
		"events.replay": `"replay_endpoint":"tcp://*:`}},
	{name: "mute", mute: true, found: map[string]string{"events.silent": "--kv-events-config"}},
	{name: "topic", topic: "kv@a@m", replica: "", found: map[string]string{"events.topic": `events.topic: "kv@a@m"`}},
	{name: "unrepeated", noReplay: true, found: map[string]string{"events.replay": "events.replay:"}},
	{name: "seed", engine: func(c *emulator.Config) { c.Namer, _ = enginehash.New("sha256_cbor", "42") },
		specialist: `hash_scheme: sha256_cbor, hash_seed: "0"`, found: map[string]string{"hashes": `hash_seed: "42"`}},
	{name: "tokenless", engine: func(c *emulator.Config) { c.Tokenless = true },
		found: map[string]string{"hashes": "hash_scheme"}},
	{name: "clock", late: time.Hour, found: map[string]string{"clock": "timedatectl"}},
}

// plant starts the engine of a replica with its fault, and returns the specialist.
func (p *planted) plant(t *testing.T) string {
	t.Helper()
	live, again := port(t), port(t)
	c := emulator.Config{Name: p.name + "-0", Model: "coder", Step: time.Millisecond}
	if p.engine != nil {
		p.engine(&c)
	}
	if !p.deaf {
		z := zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:" + live, Topic: p.topic}
		if !p.noReplay {
			z.Replay = "tcp://127.0.0.1:" + again
		}
		publisher, err := zmqstream.NewPublisher(z)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = publisher.Close() })
		if !p.mute {
			c.Publisher = publisher
		}
	}
	url := p.serve(t, c)
	keys := p.specialist
	if !strings.Contains(keys, "block_size") {
		keys = strings.TrimPrefix(keys+", block_size: 16", ", ")
	}
	sockets := `zmq: "tcp://127.0.0.1:` + live + `"`
	if !p.noReplay {
		sockets += `, replay: "tcp://127.0.0.1:` + again + `"`
	}
	if p.topic != "" {
		sockets += `, topic: other`
	}
	model := p.model
	if model == "" {
		model = "coder"
	}
	return fmt.Sprintf("  - {name: %s, tokenizer: builtin, %s, replicas: [{url: %q, model: %s, engine: vllm, "+
		"events: {%s}%s}]}\n",
		p.name, keys, url, model, sockets, p.replica)
}

// serve runs the engine until the test ends, and returns its URL.
func (p *planted) serve(t *testing.T, c emulator.Config) string {
	t.Helper()
	e, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	s := httptest.NewServer(p.around(e.Handler()))
	t.Cleanup(func() {
		s.Close()
		cancel()
		running.Wait()
	})
	if p.down {
		s.Close()
	}
	return s.URL
}

// around has the engine answer with the fault.
func (p *planted) around(engine http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has left
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if p.refuse != "" && bytes.Contains(body, []byte(p.refuse)) {
			http.Error(w, `{"error":{"message":"priority scheduling is off"}}`, http.StatusBadRequest)
			return
		}
		answer := httptest.NewRecorder()
		engine.ServeHTTP(answer, r)
		status, text := answer.Code, answer.Body.Bytes()
		if p.tamper != nil && bytes.Contains(body, []byte(p.when)) {
			status, text = p.tamper(r.URL.Path, status, text)
		}
		if p.late != 0 {
			w.Header().Set("Date", time.Now().Add(p.late).UTC().Format(http.TimeFormat))
		}
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(status)
		_, _ = w.Write(text)
	})
}

// port returns a free port of this machine.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// doctored runs doctor on a file with these specialists and events, and returns what it says but for what passes.
func doctored(t *testing.T, specialists, events string) (troubles []api.Finding, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "octet.yaml")
	if err := os.WriteFile(path, []byte(events+"specialists:\n"+specialists), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := octet("doctor", "--config", path, "--json")
	var all []api.Finding
	if bad := json.Unmarshal([]byte(out), &all); bad != nil {
		t.Fatalf("%v, %v: %s", err, bad, out)
	}
	for _, f := range all {
		if f.Status != "pass" {
			troubles = append(troubles, f)
		}
	}
	return troubles, err
}

// expect compares what was found with what was planted.
func expect(t *testing.T, troubles []api.Finding, faults ...planted) {
	t.Helper()
	want := map[string]string{}
	for _, p := range faults {
		for check, cure := range p.found {
			want[p.name+"-0 "+check] = cure
		}
	}
	for _, f := range troubles {
		cure, ok := want[f.Replica+" "+f.Check]
		switch {
		case !ok:
			t.Errorf("a false alarm: %+v", f)
		case !strings.Contains(f.Cure, cure):
			t.Errorf("the cure of %+v has no %q", f, cure)
		}
		delete(want, f.Replica+" "+f.Check)
	}
	for missed := range want {
		t.Errorf("not found: %s", missed)
	}
}

// Issue 22: each fault is found alone, with its cure, and nothing else is.
func TestDoctorFindsEachFaultAlone(t *testing.T) {
	sound := planted{name: "sound"}
	for _, p := range append(slices.Clone(seededFaults), sound) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			troubles, err := doctored(t, p.plant(t), "")
			expect(t, troubles, p)
			failed := slices.ContainsFunc(troubles, func(f api.Finding) bool { return f.Status == "fail" })
			if errors.Is(err, errFound) != failed {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// Issue 22: and all at once.
func TestDoctorFindsAllFaultsAtOnce(t *testing.T) {
	var specialists strings.Builder
	all := append(slices.Clone(seededFaults), planted{name: "sound"})
	for _, p := range all {
		// each is the specialist of that name; keys are told by position
		specialists.WriteString(p.plant(t))
	}
	troubles, err := doctored(t, specialists.String(), "")
	expect(t, troubles, all...)
	if !errors.Is(err, errFound) {
		t.Errorf("it ends with %v", err)
	}
}

// Issue 22: limits of a stream that lose events are found.
func TestDoctorFindsAStreamThatLosesEvents(t *testing.T) {
	server := natsserver.Run(t)
	conn, err := nats.Connect(server.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	events := fmt.Sprintf("events: {nats: {url: %q}}\n", server.ClientURL())
	sound := planted{name: "sound"}
	specialist := sound.plant(t)
	if troubles, err := doctored(t, specialist, events); err != nil || len(troubles) > 0 {
		t.Errorf("without a stream: %v, %+v", err, troubles)
	}
	for cure, c := range map[string]jetstream.StreamConfig{
		"--max-msgs-per-subject=-1": {MaxMsgsPerSubject: 1},
		"--discard=old":             {MaxMsgs: 100_000, Discard: jetstream.DiscardNew},
		"--max-age=1h":              {MaxAge: time.Second},
		"--retention=limits":        {Retention: jetstream.InterestPolicy},
	} {
		c.Name, c.Subjects = "OCTET_KV", []string{"octet.kv.>"}
		await.True(t, "the files of the stream before it are gone", func() bool {
			_, err := js.CreateStream(t.Context(), c)
			return err == nil
		})
		troubles, _ := doctored(t, specialist, events)
		if len(troubles) != 1 || troubles[0].Check != "nats" || !strings.Contains(troubles[0].Cure, cure) {
			t.Errorf("%s: %+v", cure, troubles)
		}
		if err := js.DeleteStream(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// Issue 22, bad input: one clear line, and exit 1.
func TestDoctorSaysWhyItCannotAsk(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer locked.Close()
	for why, args := range map[string][]string{
		"OCTET_ADMIN_TOKEN":   {"--admin", locked.URL},
		"no gateway answers":  {"--admin", "127.0.0.1:" + port(t)},
		"no such file":        {"--config", filepath.Join(t.TempDir(), "none.yaml")},
		"either --config or ": {"--config", "x", "--admin", locked.URL},
	} {
		out, err := octet(append([]string{"doctor"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "\n") || out != "" {
			t.Errorf("%v: %v, %q", args, err, out)
		}
		if usage := new(usageError); errors.As(err, usage) != strings.HasPrefix(why, "either") {
			t.Errorf("%v: %v is of the wrong kind", args, err)
		}
	}
}

// Issue 22: nothing is wrong in the demo, at a running gateway.
func TestDoctorFindsNothingInTheDemo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tour, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- demo(ctx, demoFlags{listen: "127.0.0.1:0", admin: "127.0.0.1:0", step: time.Millisecond,
			text: emulator.TextProse}, out)
		_ = out.Close()
	}()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	admin := ""
	lines := bufio.NewScanner(tour)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "admin" {
			admin = fields[1]
		}
		if strings.HasPrefix(lines.Text(), "Stop with") {
			break
		}
	}
	var connects api.Connects
	await.True(t, "all engines are asked at connect", func() bool {
		connects = connectsAt(t, admin)
		return connects.Asked == 16
	})
	if len(connects.Findings) > 0 {
		t.Errorf("found at connect: %+v", connects.Findings)
	}
	said, err := octet("doctor", "--admin", admin)
	if err != nil || strings.Count(said, "\n") < 16*len(doctor.Checks) {
		t.Errorf("%v: %s", err, said)
	}
	for line := range strings.Lines(said) {
		if !strings.HasPrefix(line, "pass") {
			t.Error(line)
		}
	}
}

// connectsAt returns what a gateway has found at connect.
func connectsAt(t *testing.T, admin string) (told api.Connects) {
	t.Helper()
	resp, err := http.Get(admin + "/admin/findings")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&told); err != nil {
		t.Fatal(err)
	}
	return told
}
