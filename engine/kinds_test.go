package engine_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"octet/config"
	"octet/engine"
)

// What a configuration may name is the table, and "auto".
func TestTheConfigurationNamesEveryKind(t *testing.T) {
	field, _ := reflect.TypeFor[config.Replica]().FieldByName("Engine")
	named := strings.Fields(field.Tag.Get("enum"))
	want := []string{"auto"}
	for _, k := range engine.AllKinds() {
		want = append(want, k.Name)
	}
	slices.Sort(named)
	slices.Sort(want)
	if !slices.Equal(named, want) {
		t.Errorf("replicas[].engine may be %v, the kinds are %v", named, want)
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
	if bits != engine.Every {
		t.Errorf("the kinds are %b, Every is %b", bits, engine.Every)
	}
}
