package config

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"octet/engine"
)

// Rank returns which data-parallel rank of its engine the replica is; the zero Rank if it is the whole engine.
func (r *Replica) Rank() engine.Rank { return engine.RankOf(r.DPRank) }

// Address returns where the replica is: its URL, in a form that two spellings share, and its rank.
func (r *Replica) Address() string {
	if r.DPRank == nil {
		return SameURL(r.URL)
	}
	return SameURL(r.URL) + " rank " + strconv.Itoa(*r.DPRank)
}

// Expand returns the replicas that r stands for: one for each of its ranks, NAME-r0 and so on, with their own ports of
// its event sockets; r itself where it does not say how many it has.
func (r *Replica) Expand() []Replica {
	if r.Ranks == 0 {
		return []Replica{*r}
	}
	all := make([]Replica, r.Ranks)
	for n := range all {
		one := *r
		one.Name, one.Ranks, one.DPRank = r.Name+rankSuffix(n), 0, &n
		if r.Events != nil {
			own := *r.Events
			for _, endpoint := range own.endpoints() {
				*endpoint = PortAfter(*endpoint, n)
			}
			one.Events = &own
		}
		all[n] = one
	}
	return all
}

// rankSuffix is what the name of a rank has behind that of its engine.
func rankSuffix(n int) string { return "-r" + strconv.Itoa(n) }

// rankRoom is how long it can be.
const rankRoom = len("-r1023")

// expand puts the ranks of replicas in their place.
func (c *Config) expand() {
	for i := range c.Specialists {
		c.Specialists[i].Replicas = expanded(c.Specialists[i].Replicas)
	}
}

func expanded(replicas []Replica) []Replica {
	all := replicas[:0:0]
	for i := range replicas {
		all = append(all, replicas[i].Expand()...)
	}
	return all
}

// PortAfter returns a tcp endpoint whose port is n higher, as vLLM and SGLang number the sockets of rank n. Any other
// text stays as it is.
func PortAfter(endpoint string, n int) string {
	at := strings.LastIndexByte(endpoint, ':')
	port, ok := portOf(endpoint)
	if !ok {
		return endpoint
	}
	return endpoint[:at+1] + strconv.Itoa(port+n)
}

// portOf returns the port of a tcp endpoint; false if it has none.
func portOf(endpoint string) (int, bool) {
	if !strings.HasPrefix(endpoint, "tcp://") {
		return 0, false
	}
	port, err := strconv.Atoi(endpoint[strings.LastIndexByte(endpoint, ':')+1:])
	return port, err == nil
}

// checkRanks notes ranks that nothing could be sent to, or that cannot be told apart.
func checkRanks(s *Specialist, rep *Replica, path string, r *report, kinds engine.Table) {
	key := path + ".dp_rank"
	switch {
	case rep.Ranks > 0:
		key = path + ".ranks"
	case rep.DPRank == nil:
		return
	}
	if kind, known := kinds.Named(rep.Engine); !known || !kind.Ranks.Ranked() {
		r.addAt(key, CodeConflict, "no rank of an engine of kind %s can be asked: engine is to be %s", rep.Engine,
			strings.Join(rankedKinds(kinds), " or "))
	}
	if s.Sleep != nil && s.Sleep.After > 0 {
		r.addAt(key, CodeConflict, "the ranks of an engine sleep together: sleep.after cannot put one to sleep")
	}
	if i := slices.IndexFunc(s.Adapters, func(a Adapter) bool { return a.Path != "" }); i >= 0 {
		r.addAt(key, CodeConflict, "the ranks of an engine load adapters together: %s has a path", s.Adapters[i].Name)
	}
	checkExpansion(rep, path, r)
}

// checkExpansion notes ranks that Expand could not name, or give sockets.
func checkExpansion(rep *Replica, path string, r *report) {
	if rep.Ranks == 0 {
		return
	}
	if rep.DPRank != nil {
		r.addAt(path+".ranks", CodeConflict, "ranks is all of them, dp_rank is one")
	}
	last := rep.Name + rankSuffix(rep.Ranks-1)
	if rep.Name != "" && formName(rep.Name) == nil && formName(last) != nil {
		r.addAt(path+".name", CodeBadValue, "%q is longer than %d", clip(last), maxName)
	}
	checkRankSockets(rep, path+".events", r)
}

// checkWhole notes a URL that is one replica as a whole and others by its ranks. urls are the addresses that are taken,
// parts the URLs of which ranks are.
func checkWhole(rep *Replica, path string, urls names, parts map[string]string) {
	url := SameURL(rep.URL)
	of, other := parts[url]
	if rep.Ranks > 0 || rep.DPRank != nil {
		parts[url] = path
		of, other = urls.taken[url]
	}
	if other {
		urls.r.addAt(path, urls.code, "%q is a whole engine or one by ranks, not both: see %s", clip(rep.URL), of)
	}
}

// checkRankSockets notes event sockets that have no port to count up from, or not enough of them.
func checkRankSockets(rep *Replica, path string, r *report) {
	if rep.Events == nil {
		return
	}
	all := rep.Events.endpoints()
	keys := slices.Sorted(maps.Keys(all))
	slices.Reverse(keys) // zmq, the first that a reader looks for, is what others clash with
	for i, key := range keys {
		endpoint := *all[key]
		port, ok := portOf(endpoint)
		switch {
		case endpoint == "" || formZMQ(endpoint) != nil:
		case !ok:
			r.addAt(path+"."+key, CodeConflict, "%q has no port, and rank n has the port n higher", clip(endpoint))
		case port+rep.Ranks-1 > maxPort:
			r.addAt(path+"."+key, CodeConflict, "rank %d would have port %d", rep.Ranks-1, port+rep.Ranks-1)
		}
		for _, other := range keys[:i] {
			before, both := portOf(*all[other])
			gap := max(before-port, port-before)
			if ok && both && hostOf(endpoint) == hostOf(*all[other]) && gap < rep.Ranks {
				r.addAt(path+"."+key, CodeConflict, "its ports and those of %s are %d apart, and there are %d ranks",
					other, gap, rep.Ranks)
			}
		}
	}
}

const maxPort = 65535

func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	return u.Hostname()
}

func rankedKinds(kinds engine.Table) (names []string) {
	for _, name := range kinds.Names() {
		if kind, _ := kinds.Named(name); kind.Ranks.Ranked() {
			names = append(names, name)
		}
	}
	return names
}
