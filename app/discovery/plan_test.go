package discovery_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/app/discovery"
	"octet/config"
)

// fleet is a generation in force as Merge sees it, with slots that take a while to be swept.
type fleet struct {
	in    map[string]string // URLs in force, by name
	dirty int               // slots that are not swept yet
	busy  map[string]bool
}

func (f *fleet) Free() int { return config.MaxReplicas - len(f.in) - f.dirty }
func (f *fleet) Stays(_ *config.Specialist, rep *config.Replica) bool {
	return f.in[rep.Name] == rep.URL
}
func (f *fleet) Busy(name string) bool { return f.busy[name] }

// take puts a plan in force.
func (f *fleet) take(c *config.Config) {
	next := map[string]string{}
	for _, sp := range c.Specialists {
		for _, rep := range sp.Replicas {
			next[rep.Name] = rep.URL
		}
	}
	for name, url := range f.in {
		if next[name] != url {
			f.dirty++
		}
	}
	f.in = next
}

const two = `
fleet: {discovery: {keep: 1m}}
specialists:
  - {name: debug, replicas: [{url: 'http://listed:1'}], discover: {}}
  - {name: systems, discover: {template: {engine: vllm}}}
`

func parse(t testing.TB, text string) *config.Config {
	t.Helper()
	c, err := config.Parse("test.yaml", []byte(text), config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at returns a replica that was found.
func at(specialist, name, url string) discovery.Found {
	return discovery.Found{Specialist: specialist, Replica: config.Replica{Name: name, URL: url, Source: "file",
		Engine: "vllm", Role: "both", Doors: []string{"auto"}}}
}

// Whatever is found, the plan has no fault, no name or URL twice, no more replicas than a gateway can tell apart, no
// more new ones than there are slots, and what the configuration lists; a replica in force that is still found stays;
// and what is found and may be taken is taken in the end.
func TestEveryPlanIsAConfigurationWithoutFaults(t *testing.T) {
	c := parse(t, two)
	rapid.Check(t, func(t *rapid.T) {
		m := discovery.NewMembers()
		f := &fleet{in: map[string]string{"debug-0": "http://listed:1"}, busy: map[string]bool{}}
		now := time.Unix(0, 0)
		hosts := rapid.SampledFrom([]int{3, 40, config.MaxReplicas + 200}).Draw(t, "hosts")
		one := rapid.Custom(func(t *rapid.T) discovery.Found {
			n := rapid.IntRange(0, hosts).Draw(t, "host")
			name, url := fmt.Sprintf("r%d", n), fmt.Sprintf("http://h%d:1", n)
			switch rapid.IntRange(0, 19).Draw(t, "odd") {
			case 0:
				url = fmt.Sprintf("http://h%d:1/", rapid.IntRange(0, hosts).Draw(t, "other"))
			case 1:
				name = "debug-0"
			case 2:
				url = "http://LISTED:1"
			case 3:
				url = "http://169.254.169.254"
			case 4:
				url = "http://127.0.0.1:8081"
			}
			return at(rapid.SampledFrom([]string{"debug", "systems", "gone"}).Draw(t, "specialist"), name, url)
		})
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			found := rapid.SliceOfN(one, 0, 20).Draw(t, "found")
			from := rapid.IntRange(0, hosts).Draw(t, "from") // and a stretch of plain ones, so that slots run out
			upto := rapid.IntRange(from, hosts).Draw(t, "upto")
			for n := from; n < upto; n++ {
				found = append(found, at("systems", fmt.Sprintf("r%d", n), fmt.Sprintf("http://h%d:1", n)))
			}
			if rapid.Bool().Draw(t, "swept") {
				f.dirty = 0
			}
			before := maps.Clone(f.in)
			p := m.Merge(c, found, f, now)
			check(t, c, p, found, f)
			m.Commit(p)
			f.take(p.Config)
			stays(t, p, before, found)
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "pass")) * time.Second)
		}
	})
}

// check fails where a plan breaks what every plan keeps.
func check(t *rapid.T, c *config.Config, p *discovery.Plan, found []discovery.Found, f *fleet) {
	names, urls, fresh, total := map[string]bool{}, map[string]bool{}, 0, 0
	for _, sp := range p.Config.Specialists {
		for _, rep := range sp.Replicas {
			if names[rep.Name] || urls[config.SameURL(rep.URL)] {
				t.Fatalf("%s at %s is there twice", rep.Name, rep.URL)
			}
			names[rep.Name], urls[config.SameURL(rep.URL)] = true, true
			total++
			if f.in[rep.Name] != rep.URL {
				fresh++
			}
		}
	}
	if !names["debug-0"] || total > config.MaxReplicas || fresh > max(0, f.Free()) {
		t.Fatalf("%d replicas, %d new ones for %d slots, listed ones %v", total, fresh, f.Free(), names["debug-0"])
	}
	again := map[string][]config.Replica{}
	for _, sp := range p.Config.Specialists {
		for _, rep := range sp.Replicas {
			if rep.Source != "" {
				again[sp.Name] = append(again[sp.Name], rep)
			}
		}
	}
	if _, refused := config.Join(c, again, config.Options{}); len(refused) > 0 {
		t.Fatalf("the plan has faults: %v", refused)
	}
	refused := 0
	for _, of := range p.Refused {
		for _, why := range of {
			refused += len(why)
		}
	}
	if want := 1 + len(found) - refused - p.Pending + len(p.Left); total != want {
		t.Fatalf("%d replicas: %d found, %d refused, %d pending, %d left", total, len(found), refused, p.Pending,
			len(p.Left))
	}
}

// stays fails where a replica that serves and is found has gone, or a name that leads elsewhere now is as it was.
func stays(t *rapid.T, p *discovery.Plan, before map[string]string, found []discovery.Found) {
	now := map[string]string{}
	for _, sp := range p.Config.Specialists {
		for _, rep := range sp.Replicas {
			now[rep.Name] = sp.Name + " " + rep.URL
		}
	}
	for _, f := range found {
		if before[f.Replica.Name] != f.Replica.URL || p.Left[f.Replica.Name] {
			continue
		}
		if _, in := now[f.Replica.Name]; !in && len(p.Refused[f.Specialist]["file"]) == 0 && p.Pending == 0 {
			t.Fatalf("%s served and is found, and has gone", f.Replica.Name)
		}
	}
}

// A replica that is found no more stays for keep, without new requests, and is as it was when it is found again; after
// keep it has gone. One that is to end goes as soon as it is idle.
func TestAReplicaThatIsFoundNoMoreIsKept(t *testing.T) {
	c, m := parse(t, two), discovery.NewMembers()
	f := &fleet{in: map[string]string{"debug-0": "http://listed:1"}, busy: map[string]bool{"b": true}}
	now := time.Unix(0, 0)
	a, b := at("systems", "a", "http://a:1"), at("systems", "b", "http://b:1")
	round := func(found ...discovery.Found) *discovery.Plan {
		p := m.Merge(c, found, f, now)
		m.Commit(p)
		f.take(p.Config)
		return p
	}
	round(a, b)
	if p := round(b); !p.Left["a"] || f.in["a"] == "" || p.Again != time.Minute {
		t.Errorf("a is not kept: %+v", p)
	}
	now = now.Add(59 * time.Second)
	if p := round(a, b); p.Left["a"] || f.in["a"] == "" || p.Again != 0 {
		t.Errorf("a is not back: %+v", p)
	}
	round(b)
	now = now.Add(time.Minute)
	if p := round(b); p.Left["a"] || f.in["a"] != "" {
		t.Errorf("a has not gone: %+v", p)
	}
	m.End("b")
	if p := round(); !p.Left["b"] || f.in["b"] == "" {
		t.Errorf("b has gone with a request: %+v", p)
	}
	f.busy["b"] = false
	if p := round(); p.Left["b"] || f.in["b"] != "" {
		t.Errorf("b has not gone: %+v", p)
	}
}

// Ten thousand endpoints fill a gateway and no more: those in force stay, each specialist gets its share of the rest,
// and all that is left out is counted.
func TestTenThousandEndpointsFillAGateway(t *testing.T) {
	c, m := parse(t, two), discovery.NewMembers()
	f := &fleet{in: map[string]string{"debug-0": "http://listed:1"}}
	serving := at("systems", "zz", "http://zz:1")
	p := m.Merge(c, []discovery.Found{serving}, f, time.Unix(0, 0))
	m.Commit(p)
	f.take(p.Config)
	var found []discovery.Found
	for i := range 10_000 {
		found = append(found, at("debug", fmt.Sprintf("a%d", i), fmt.Sprintf("http://a%d:1", i)))
	}
	for i := range 1000 {
		found = append(found, at("systems", fmt.Sprintf("b%d", i), fmt.Sprintf("http://b%d:1", i)))
	}
	p = m.Merge(c, append(found, serving), f, time.Unix(0, 0))
	debug, systems := p.Config.Specialists[0].Replicas, p.Config.Specialists[1].Replicas
	over := 10_000 - (len(debug) - 1)
	if len(debug)+len(systems) != config.MaxReplicas || len(systems)-len(debug) > 1 || len(debug)-len(systems) > 1 ||
		len(p.Refused["debug"]["file"]) != over ||
		p.Refused["debug"]["file"][0].Code != config.CodeTooMany ||
		!slices.ContainsFunc(systems, func(r config.Replica) bool { return r.Name == "zz" }) {
		t.Errorf("%d and %d replicas, %d refused", len(debug), len(systems), len(p.Refused["debug"]["file"]))
	}
}

// In a gateway whose slots are all taken, new replicas take the slots of those that are found no more, and wait for
// them to be swept; none that serves is lost meanwhile.
func TestAFullGatewayIsReplacedAsSlotsAreSwept(t *testing.T) {
	c, m := parse(t, two), discovery.NewMembers()
	f := &fleet{in: map[string]string{"debug-0": "http://listed:1"}}
	generation := func(name string) (found []discovery.Found) {
		for i := range config.MaxReplicas - 1 {
			found = append(found, at("systems", fmt.Sprintf("%s%d", name, i), fmt.Sprintf("http://%s%d:1", name, i)))
		}
		return found
	}
	old, next := generation("old"), generation("next")
	p := m.Merge(c, old, f, time.Unix(0, 0))
	m.Commit(p)
	f.take(p.Config)
	for i := 0; i < len(old); i += 16 {
		upto := min(i+16, len(old))
		found := slices.Concat(next[:upto], old[upto:])
		for rounds := 0; ; rounds++ {
			p := m.Merge(c, found, f, time.Unix(0, 0))
			m.Commit(p)
			f.take(p.Config)
			f.dirty = 0
			if p.Pending == 0 {
				break
			}
			if rounds == 3 || p.Again == 0 {
				t.Fatalf("after %d rounds %d of %d wait", rounds, p.Pending, upto)
			}
		}
		for _, one := range found {
			if f.in[one.Replica.Name] == "" {
				t.Fatalf("%s does not serve", one.Replica.Name)
			}
		}
	}
}
