package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"octet/config"
	"octet/engine"
)

// What a configuration may name is the table, and "auto".
func TestTheConfigurationNamesEveryKind(t *testing.T) {
	parse := func(kind string) error {
		text := "specialists: [{name: a, replicas: [{url: http://h, engine: " + kind + "}]}]"
		_, err := config.Parse("octet.yaml", []byte(text), config.Options{})
		return err
	}
	named := []string{engine.Auto}
	for _, k := range engine.AllKinds() {
		named = append(named, k.Name)
	}
	for _, kind := range named {
		if err := parse(kind); err != nil {
			t.Error(err)
		}
	}
	_, words, _ := strings.Cut(fmt.Sprint(parse("made-up")), "is not one of ")
	words, _, _ = strings.Cut(words, " (")
	listed := strings.Split(words, ", ")
	slices.Sort(listed)
	slices.Sort(named)
	if !slices.Equal(listed, named) {
		t.Errorf("replicas[].engine may be %v, the kinds are %v", listed, named)
	}
}

func TestKindsAreToldApart(t *testing.T) {
	var bits engine.Kinds
	owners, metrics := map[string]bool{"": true}, map[string]bool{"": true}
	for _, k := range engine.AllKinds() {
		if k.Bit == 0 || bits&k.Bit != 0 || k.Paths.Health == "" {
			t.Errorf("%s: bit %b of %b, health at %q", k.Name, k.Bit, bits, k.Paths.Health)
		}
		bits |= k.Bit
		if k.Name != engine.Generic && (owners[k.Marks.Owner] || metrics[k.Marks.Metrics]) {
			t.Errorf("%s has no marks of its own", k.Name)
		}
		owners[k.Marks.Owner], metrics[k.Marks.Metrics] = true, true
	}
	if bits&^engine.Every != 0 {
		t.Errorf("the kinds are %b, Every is %b", bits, engine.Every)
	}
}
