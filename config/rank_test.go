package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// ofReplicas is a configuration with a replica of each of the texts, and more keys of its specialist.
func ofReplicas(more string, replicas ...string) []byte {
	return []byte("specialists: [{name: a, " + more + " replicas: [{" + strings.Join(replicas, "}, {") + "}]}]")
}

func TestRanksAreReplicasOfOneURL(t *testing.T) {
	c, err := Parse("octet.yaml", ofReplicas("", `url: "http://h:8000", engine: vllm, ranks: 3, blocks: 7,
		events: {zmq: "tcp://{host}:5557", replay: "tcp://[::1]:6000"}`, `url: "http://other:8000"`,
		`url: "http://one:1", engine: sglang, dp_rank: 5, events: {zmq: "tcp://one:5562"}`,
		`url: "http://one:1/", engine: sglang, dp_rank: 0`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Specialists[0].Replicas {
		zmq, replay := "", ""
		if r.Events != nil {
			zmq, replay = r.Events.ZMQ, r.Events.Replay
		}
		got = append(got, fmt.Sprintf("%s %s %q %d %s %s", r.Name, r.Address(), r.Rank(), r.Blocks, zmq, replay))
	}
	want := []string{
		`a-0-r0 http://h:8000 rank 0 "0" 7 tcp://h:5557 tcp://[::1]:6000`,
		`a-0-r1 http://h:8000 rank 1 "1" 7 tcp://h:5558 tcp://[::1]:6001`,
		`a-0-r2 http://h:8000 rank 2 "2" 7 tcp://h:5559 tcp://[::1]:6002`,
		`a-1 http://other:8000 "" 0  `,
		`a-2 http://one:1 rank 5 "5" 0 tcp://one:5562 `,
		`a-3 http://one:1 rank 0 "0" 0  `,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the replicas are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Each fault stands at its own key, and says what is wrong.
func TestRanksThatCannotBeAreFaults(t *testing.T) {
	const h = `url: "http://h:8000", engine: vllm, `
	long := strings.Repeat("n", maxName-2)
	for _, f := range []struct {
		more     string
		replicas []string
		at, code string
	}{
		{"", []string{`url: "http://h", ranks: 2`}, ".ranks", CodeConflict},
		{"", []string{`url: "http://h", engine: openai, dp_rank: 2`}, ".dp_rank", CodeConflict},
		{"", []string{`url: "http://h", engine: llamacpp, ranks: 1`}, ".ranks", CodeConflict},
		{"", []string{h + `ranks: 2, dp_rank: 0`}, ".ranks", CodeConflict},
		{"", []string{h + `ranks: 513`}, ".ranks", CodeOutOfRange},
		{"", []string{h + `ranks: -1`}, ".ranks", CodeOutOfRange},
		{"", []string{h + `dp_rank: 1024`}, ".dp_rank", CodeOutOfRange},
		{"", []string{h + `ranks: 2, name: ` + long}, ".name", CodeBadValue},
		{"", []string{h + `ranks: 2, events: {zmq: "ipc:///tmp/x"}`}, ".events.zmq", CodeConflict},
		{"", []string{h + `ranks: 2, events: {zmq: "tcp://h:65535"}`}, ".events.zmq", CodeConflict},
		{"", []string{h + `ranks: 2, events: {zmq: "tcp://h:5557", replay: "tcp://h:5558"}`}, ".events.replay",
			CodeConflict},
		{"hash_scheme: sglang,", []string{`url: "http://h", engine: sglang, ranks: 3, events: {zmq: "tcp://h:5557",
      replay: "tcp://h:5567", snapshot: "tcp://h:5569"}`}, ".events.replay", CodeConflict},
		{"sleep: {after: 1m},", []string{h + `ranks: 2`}, ".ranks", CodeConflict},
		{"adapters: [{name: x, path: /x}],", []string{h + `dp_rank: 2`}, ".dp_rank", CodeConflict},
		{"", []string{h + `dp_rank: 1`, h + `ranks: 2`}, "[1].url", CodeDuplicateURL},
		{"", []string{h + `dp_rank: 1`, `url: "http://H:8000/"`}, "[1].url", CodeDuplicateURL},
		{"", []string{`url: "http://H:8000/"`, h + `ranks: 2`}, "[1].url", CodeDuplicateURL},
		{"", []string{h + `ranks: 2, name: x`, `name: x-r1, url: "http://i"`}, "[1].name", CodeDuplicateName},
		{"", []string{h + fmt.Sprintf(`ranks: %d`, MaxReplicas), `url: "http://i"`}, ".replicas[1]", CodeTooMany},
	} {
		_, err := Parse("octet.yaml", ofReplicas(f.more, f.replicas...), Options{})
		var faults *Faults
		if !errors.As(err, &faults) || len(faults.List) != 1 || faults.List[0].Code != f.code ||
			!strings.HasSuffix(faults.List[0].Path, f.at) {
			t.Errorf("%s %s: %v, want %s at %s", f.more, f.replicas, err, f.code, f.at)
		}
	}
	for _, fits := range []string{`sleep: {hold: 1m},`, `adapters: [{name: x}],`} {
		if _, err := Parse("octet.yaml", ofReplicas(fits, h+`ranks: 2`), Options{}); err != nil {
			t.Errorf("%s: %v", fits, err)
		}
	}
}

// What is found is of a template's ranks, unless it says which rank it is.
func TestWhatIsFoundHasRanks(t *testing.T) {
	text := `specialists: [{name: a, discover: {file: list.yaml, template: {engine: vllm, ranks: 2,
		events: {zmq: "tcp://{host}:5557"}}}}]`
	c, err := Parse("octet.yaml", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &c.Specialists[0]
	all, err := s.ParseFound("list.yaml", []byte(`[{url: "http://h:1"}, {url: "http://i:1", dp_rank: 3},
		{url: "http://j:1", ranks: 1, name: j}]`), "file", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		got = append(got, r.Name+" "+r.Address()+" "+r.Events.ZMQ)
	}
	want := "a-h-1-r0 http://h:1 rank 0 tcp://h:5557, a-h-1-r1 http://h:1 rank 1 tcp://h:5558, " +
		"a-i-1-r3 http://i:1 rank 3 tcp://i:5557, j-r0 http://j:1 rank 0 tcp://j:5557"
	if strings.Join(got, ", ") != want {
		t.Errorf("found are %s", strings.Join(got, ", "))
	}
	joined, refused := Join(c, map[string][]Replica{"a": all}, Options{})
	if len(refused) != 0 || len(joined.Specialists[0].Replicas) != 4 {
		t.Errorf("%d replicas, refused %v", len(joined.Specialists[0].Replicas), refused)
	}
	long, err := s.Found(Endpoint{URL: "http://" + strings.Repeat("a", 60) + ".example:8000"}, "dns")
	if err != nil || len(long) != 2 || formName(long[1].Name) != nil {
		t.Errorf("%+v, %v", long, err)
	}
	_, err = ParseRegistration(c, []byte(`{"specialist":"a","url":"http://k:1"}`), "admin", Options{})
	var faults *Faults
	if !errors.As(err, &faults) || faults.List[0].Path != "ranks" {
		t.Errorf("all ranks in one registration: %v", err)
	}
	reg, err := ParseRegistration(c, []byte(`{"specialist":"a","url":"http://k:1","dp_rank":1}`), "admin", Options{})
	if err != nil || reg.Replica.Name != "a-k-1-r1" {
		t.Errorf("one rank registered: %+v, %v", reg.Replica, err)
	}
}
