package plugins

import (
	"slices"

	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/index"
)

// labels keeps the replicas whose labels satisfy all of its conditions. Besides the configured labels every replica has
// name, role and engine.
type labels struct {
	named
	fixed *fixed
}

// condition is one requirement on one label.
type condition struct {
	key      string
	operator string
	values   []string
}

// newLabels: matchLabels is a mapping of labels to the values that they must have; matchExpressions is a list of {key,
// operator: In | NotIn | Exists | DoesNotExist, values}. At least one condition is needed; all must hold.
func newLabels(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin {
		var all []condition
		for key, value := range p.Map("matchLabels") {
			all = append(all, condition{key, "In", []string{value}})
		}
		p.Parts("matchExpressions", func(part *routing.Params) { all = append(all, expression(part)) })
		if len(all) == 0 {
			p.Refuse("has no condition: give matchLabels or matchExpressions")
		}
		holds := func(s *fleet.Spec) bool {
			return !slices.ContainsFunc(all, func(c condition) bool { return !c.holds(s) })
		}
		return labels{named{"label-selector", reads(Fleet)}, &fixed{holds: holds}}
	}
}

func expression(p *routing.Params) condition {
	c := condition{
		key:      p.Text("key", ""),
		operator: p.Text("operator", "In", "In", "NotIn", "Exists", "DoesNotExist"),
		values:   p.Texts("values"),
	}
	if c.key == "" {
		p.Refuse("an expression without a key")
	}
	if listed := c.operator == "In" || c.operator == "NotIn"; listed != (len(c.values) > 0) {
		p.Refuse("%s with %d values", c.operator, len(c.values))
	}
	return c
}

// Filter implements routing.Filter.
func (l labels) Filter(v routing.View, left *index.HostBitmap) {
	matching := l.fixed.hosts(Fleet.Get(v))
	left.Keep(&matching)
}

// holds follows Kubernetes: NotIn holds for a replica without the label.
func (c condition) holds(s *fleet.Spec) bool {
	value, ok := labelOf(s, c.key)
	switch c.operator {
	case "In":
		return ok && slices.Contains(c.values, value)
	case "NotIn":
		return !ok || !slices.Contains(c.values, value)
	case "Exists":
		return ok
	}
	return !ok
}

// labelOf returns a configured label, else one that every replica has.
func labelOf(s *fleet.Spec, key string) (string, bool) {
	if value, ok := s.Labels[key]; ok {
		return value, true
	}
	switch key {
	case "name":
		return s.Name, true
	case "role":
		return s.Role, true
	case "engine":
		return s.Engine, s.Engine != ""
	}
	return "", false
}
