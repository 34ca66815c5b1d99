package core

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"octet/scheduler"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// TestScripts plays testdata/*.txt: commands, then ----, then what the Core says. Read them: they are the behaviour.
//
//	core blocks=5 block=16 running=4 waiting=8 budget=1024 chunk=0
//	     watermark=0 (percent) cross=0 aging=0 ceiling=0 bytes=0 (waiting)
//	     state=0 kv=0 host=0 (bytes)
//	     a token computes in 1000 ns and a byte is carried in 1
//	add NAME prio=0 at=0 prompt=N new=N adapter= draft=0 share=OTHER:N deadline=0 tenant= hybrid=0
//	     the first N tokens are OTHER's
//	step stop=NAME accept=N at=0 assemble and commit; accept: draft tokens that are right, default all
//	assemble · commit … · abort · cancel NAME · events · stats
//
// Every command is followed by Check.
//
// MEGA-38, MEGA-39: hybrid.txt. MEGA-40, MEGA-41: victims.txt. MEGA-69: room.txt. MEGA-25: preemption.txt, vain.txt.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(text) {
				t.Errorf("%s says otherwise; now:\n%s", file, got)
			}
		})
	}
}

// play runs a script and returns it with the answers that were given.
func play(t *testing.T, text string) string {
	p := &player{T: t, ids: map[string]uint64{}}
	var out strings.Builder
	expected := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "----":
			expected = true
			fmt.Fprintf(&out, "----\n%s", p.answers.String())
			p.answers.Reset()
		case line == "":
			expected = false
			out.WriteString("\n")
		case expected:
		default:
			fmt.Fprintln(&out, line)
			if !strings.HasPrefix(line, "#") {
				p.run(line)
			}
		}
	}
	return out.String()
}

type player struct {
	*testing.T
	core    *Core
	ids     map[string]uint64
	names   []string // of ids 1, 2, …
	prompts [][]uint32
	batch   Batch
	answers strings.Builder
}

type arguments map[string]string

func (a arguments) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(a[name]); err == nil {
		return n
	}
	return otherwise
}

func (p *player) run(line string) {
	words := strings.Fields(line)
	args, name := arguments{}, ""
	for _, word := range words[1:] {
		if key, value, ok := strings.Cut(word, "="); ok {
			args[key] = value
		} else {
			name = word
		}
	}
	switch words[0] {
	case "core":
		p.create(args)
	case "add":
		p.add(name, args)
	case "step":
		p.assemble(args)
		p.commit(args)
	case "assemble":
		p.assemble(args)
	case "commit":
		p.commit(args)
	case "abort":
		p.core.Abort(p.batch)
		p.state()
	case "cancel":
		p.say("cancel %s: %t", name, p.core.Cancel(p.ids[name]))
		p.state()
	case "events":
		p.events()
	case "stats":
		p.say("%+v", p.core.Stats())
	default:
		p.Fatalf("no such command: %s", line)
	}
	if err := p.core.Check(); err != nil {
		p.Fatalf("after %q: %v", line, err)
	}
}

func (p *player) say(format string, args ...any) { fmt.Fprintf(&p.answers, format+"\n", args...) }

func (p *player) create(a arguments) {
	var err error
	p.core, err = New(Config{
		Blocks: a.number("blocks", 100), BlockSize: a.number("block", 16), MaxRunning: a.number("running", 16),
		MaxWaiting: a.number("waiting", 16), TokenBudget: a.number("budget", 1024), ChunkTokens: a.number("chunk", 0),
		Watermark: float64(a.number("watermark", 0)) / 100, CrossAdapter: a["cross"] == "1",
		Weights: func(tenant string) int { return len(tenant) }, Aging: scheduler.Time(a.number("aging", 0)),
		AgingCeiling:  a.number("ceiling", 0),
		SSMStateBytes: int64(a.number("state", 0)), KVTokenBytes: int64(a.number("kv", 0)),
		HostBytes:       int64(a.number("host", 0)),
		MaxWaitingBytes: int64(a.number("bytes", 0)), PrefillRate: 1e6, LinkBandwidth: 1e9,
	})
	if err != nil {
		p.Fatal(err)
	}
}

func (p *player) add(name string, a arguments) {
	id := uint64(len(p.names) + 1)
	p.ids[name], p.names = id, append(p.names, name)
	tokens := make([]uint32, a.number("prompt", 16))
	for i := range tokens {
		tokens[i] = uint32(id)<<16 + uint32(i)
	}
	if other, n, ok := strings.Cut(a["share"], ":"); ok {
		count, _ := strconv.Atoi(n)
		copy(tokens, p.prompts[p.ids[other]-1][:count])
	}
	p.prompts = append(p.prompts, slices.Clone(tokens))
	answer, err := p.core.Add(Request{
		ID: id, Tokens: tokens, Root: p.core.hasher.Root("debug", a["adapter"], ""), Adapter: a["adapter"],
		Priority: a.number("prio", 0), Arrival: scheduler.Time(a.number("at", 0)), MaxNew: a.number("new", 100),
		Draft: a.number("draft", 0), Deadline: scheduler.Time(a.number("deadline", 0)), Tenant: a["tenant"],
		Hybrid: a["hybrid"] == "1",
	}, scheduler.Time(a.number("at", 0)))
	if err != nil {
		p.say("%s: %v", name, err)
		return
	}
	p.say("%s: %v", name, answer.State)
}

func (p *player) assemble(a arguments) {
	p.batch = p.core.Assemble(scheduler.Time(a.number("at", 0)))
	if len(p.batch.Items) == 0 {
		p.say("nothing to do")
		return
	}
	if p.batch.Adapter != "" {
		p.say("adapter %s", p.batch.Adapter)
	}
	for _, id := range p.batch.Discards {
		p.say("discard the copy of %s", p.names[id-1])
	}
	for _, s := range p.batch.Snapshots {
		p.say("copy %d tokens of %s in %v to the host", s.Tokens, p.names[s.ID-1], s.Table)
	}
	for _, it := range p.batch.Items {
		line := fmt.Sprintf("%s %v %d+%d", p.names[it.ID-1], it.Mode, it.Start, len(it.Tokens))
		if it.Draft > 0 {
			line += fmt.Sprintf("+%d drafted", it.Draft)
		}
		line += fmt.Sprintf(" in %v", it.Table)
		if it.Cached > 0 {
			line += fmt.Sprintf(", %d cached", it.Cached)
		}
		if it.Restore {
			line += ", copied back first"
		}
		if !it.Samples {
			line += ", more to come"
		}
		p.say("%s", line)
	}
}

func (p *player) commit(a arguments) {
	if len(p.batch.Items) == 0 {
		p.state()
		return
	}
	results := make([]Result, len(p.batch.Items))
	for i, it := range p.batch.Items {
		results[i].ID = it.ID
		if !it.Samples {
			continue
		}
		for k := range min(it.Draft, a.number("accept", it.Draft)) + 1 {
			results[i].Tokens = append(results[i].Tokens, uint32(it.ID)<<24+uint32(it.Batched+k))
		}
		results[i].Stop = a["stop"] == p.names[it.ID-1]
	}
	var said []string
	for _, o := range p.core.Commit(p.batch, results, 0) {
		word := fmt.Sprintf("%s#%d", p.names[o.ID-1], o.Index)
		if o.Finish != NotFinished {
			word += [...]string{"", "(stop)", "(length)"}[o.Finish]
		}
		said = append(said, word)
	}
	if len(said) > 0 {
		p.say("-> %s", strings.Join(said, " "))
	}
	p.state()
}

// state says where each request is, in order, and whose the blocks are.
func (p *player) state() {
	s := p.core.Stats()
	p.say("   running [%s] waiting [%s] free %d used %d reserved %d", p.running(), p.waiting(), s.Free, s.Used,
		s.Reserved)
}

func (p *player) running() string {
	var names []string
	for _, g := range p.core.running.groups {
		for _, s := range g.running {
			names = append(names, p.names[s.req.ID-1])
		}
	}
	return strings.Join(names, " ")
}

func (p *player) waiting() string {
	list := slices.Collect(p.core.waiting.All())
	slices.SortFunc(list, func(a, b *sequence) int {
		if a.Rank.Before(b.Rank) {
			return -1
		}
		return 1
	})
	var names []string
	for _, s := range list {
		name := p.names[s.req.ID-1]
		if s.preempted {
			name += "(preempted)"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func (p *player) events() {
	for _, e := range p.core.TakeEvents() {
		if !e.Stored {
			p.say("removed %04x", uint16(e.Hash))
			continue
		}
		parent := fmt.Sprintf("behind %04x", uint16(e.Parent))
		if e.IsRoot {
			parent = "first of its chain"
		}
		p.say("stored %04x, %s, tokens %x to %x, adapter %q", uint16(e.Hash), parent, e.Tokens[0],
			e.Tokens[len(e.Tokens)-1], e.Adapter)
	}
}
