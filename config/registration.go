package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Errors of a registration that faults do not say.
var (
	ErrNotJSON      = errors.New("want one JSON object")
	ErrNoSpecialist = errors.New("there is no such specialist")
)

// Registration is a replica that is registered for a time.
type Registration struct {
	// What it serves.
	Specialist string `yaml:"specialist" required:"true" form:"name"`
	// How long it stays unless it is registered again; fleet.discovery.lease if it is not given.
	TTL time.Duration `yaml:"ttl" default:"0s" range:"0s..24h"`
	// As in a file, but for ${NAME} and tls: nothing is read from the environment or from files. The template's tls
	// holds.
	Replica Replica `yaml:",inline" except:"tls"`
}

// shortestLease is how short a lease may be: less would be renewed all the time.
const shortestLease = time.Second

// ParseRegistration reads a registration from JSON, for a specialist of c. The error is ErrNotJSON, ErrNoSpecialist or
// *Faults.
func ParseRegistration(c *Config, text []byte, source string, o Options) (Registration, error) {
	var compact bytes.Buffer // without white space that YAML does not know
	if err := json.Compact(&compact, text); err != nil {
		return Registration{}, fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	root, fault := document(compact.Bytes())
	if fault != nil {
		return Registration{}, &Faults{File: source, List: []Fault{*fault}}
	}
	var named struct{ Specialist string }
	_ = json.Unmarshal(text, &named) // what is wrong with it is noted below
	reg := Registration{}
	sp := specialistOf(c, named.Specialist)
	if sp != nil && sp.Discover != nil {
		reg.Replica = sp.Discover.Template.Replica
	} else {
		preset(reflect.ValueOf(&reg.Replica).Elem())
	}
	o.Environ = nil
	d := newDecoder(o)
	d.value(root, "", key{}, reflect.ValueOf(&reg).Elem())
	switch {
	case d.budget < 0:
		return Registration{}, tooComplex(source)
	case reg.TTL == 0:
		reg.TTL = c.Fleet.Discovery.Lease
	case reg.TTL < shortestLease:
		d.addAt("ttl", CodeOutOfRange, "%s is shorter than %s", reg.TTL, shortestLease)
	}
	if d.given("dp_rank") && !d.given("ranks") {
		reg.Replica.Ranks = 0 // the template's
	}
	if reg.Replica.Ranks > 0 {
		d.addAt("ranks", CodeConflict, "each rank is registered by itself, by dp_rank")
	}
	if err := d.err(source); err != nil {
		return Registration{}, err
	}
	if sp == nil {
		return Registration{}, ErrNoSpecialist
	}
	sp.complete(&reg.Replica, source)
	return reg, nil
}

func specialistOf(c *Config, name string) *Specialist {
	for i := range c.Specialists {
		if c.Specialists[i].Name == name {
			return &c.Specialists[i]
		}
	}
	return nil
}
