package config

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"octet/engine"
)

// thresholds are the defaults of the intents that have their own: code generation is cheap to get wrong, a confidently
// wrong review is not.
var thresholds = map[string]struct{ shadow, divert float64 }{
	"codegen": {0.30, 0.20},
	"review":  {0.85, 0.40},
	"":        {0.50, 0.25}, // any other name
}

// derive fills the defaults that depend on other keys.
func (c *Config) derive(r *report) {
	if c.Intents == nil {
		c.Intents = builtinIntents(c)
	}
	if _, given := c.Intents[Unspecified]; !given {
		c.Intents[Unspecified] = Intent{PriorityFloor: -100}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Intents)) {
		c.Intents[name] = deriveIntent(name, c.Intents[name], r)
	}
	if c.Outcomes.Kinds == nil {
		c.Outcomes.Kinds = []string{"compile", "test", "review"}
	}
	if c.Outcomes.Verifier.Command == nil {
		c.Outcomes.Verifier.Command = []string{"g++", "-std=c++23", "-fsyntax-only", "{}"}
	}
	if c.Outcomes.Verifier.Languages == nil {
		c.Outcomes.Verifier.Languages = []string{"cpp", "c++", "cc", "cxx"}
	}
	if c.Router.Classifier.HTTP.Timeout == 0 {
		c.Router.Classifier.HTTP.Timeout = c.Router.Classifier.Timeout
	}
	if !r.given("router.probation.settled") {
		c.Router.Probation.Settled = c.Router.Probation.File == ""
	}
	if c.Router.Fallback == "" && len(c.Specialists) > 0 {
		c.Router.Fallback = c.Specialists[0].Name
	}
	for i := range c.Specialists {
		c.Specialists[i].derive()
		c.Specialists[i].deriveBlockSize(item("specialists", i), r)
	}
}

// derive fills the defaults that depend on the specialist's name, and its lists.
func (s *Specialist) derive() {
	if s.Modalities == nil {
		s.Modalities = []string{"text"}
	}
	for i := range s.Replicas {
		r := &s.Replicas[i]
		if r.Name == "" && s.Name != "" {
			r.Name = s.Name + "-" + strconv.Itoa(i)
		}
		r.derive(s)
	}
	if s.Discover != nil {
		s.Discover.Template.Replica.derive(s)
	}
}

// derive fills the defaults of a replica that depend on others of its keys, and on its specialist.
func (r *Replica) derive(s *Specialist) {
	if r.Model == "" {
		r.Model = s.Name
	}
	if r.Doors == nil {
		r.Doors = []string{engine.AutoDoors}
	}
	u, err := url.Parse(r.URL)
	if r.Events == nil || r.URL == "" || err != nil {
		return
	}
	own, host := *r.Events, u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	for _, endpoint := range own.endpoints() {
		*endpoint = strings.Replace(*endpoint, hostMark, host, 1)
	}
	r.Events = &own
}

// hostMark stands for the host of a replica's URL in the endpoints of its event sockets.
const hostMark = "{host}"

// deriveBlockSize has a block size that is said in the template alone be the specialist's.
func (s *Specialist) deriveBlockSize(path string, r *report) {
	if s.Discover == nil || s.Discover.Template.BlockSize == 0 {
		return
	}
	if r.given(path + ".block_size") {
		return
	}
	s.BlockSize = s.Discover.Template.BlockSize
}

// builtinIntents are the intents of a file that names none. Debugging and build fixes go straight to the specialists of
// those names, where the ensemble has them.
func builtinIntents(c *Config) map[string]Intent {
	intents := map[string]Intent{}
	for name, specialist := range map[string]string{"codegen": "", "debug": "debug", "build-fix": "build",
		"review": ""} {
		if !slices.ContainsFunc(c.Specialists, func(s Specialist) bool { return s.Name == specialist }) {
			specialist = ""
		}
		intents[name] = Intent{Specialist: specialist, PriorityFloor: -100}
	}
	return intents
}

func deriveIntent(name string, in Intent, r *report) Intent {
	own, ok := thresholds[name]
	if !ok {
		own = thresholds[""]
	}
	path := join("intents", name)
	if !r.given(join(path, "shadow_threshold")) {
		in.ShadowThreshold = own.shadow
	}
	if !r.given(join(path, "divert_threshold")) {
		in.DivertThreshold = own.divert
	}
	return in
}
