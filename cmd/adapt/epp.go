package adapt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EPP adapts an EndpointPickerConfig of the Gateway API Inference Extension's endpoint picker, or of llm-d's.
func EPP(text []byte) (*Result, error) {
	notes := &Notes{}
	root, err := read(text, notes)
	if err != nil {
		return nil, err
	}
	if kind := root.get("kind").word(); kind != "EndpointPickerConfig" {
		return nil, fmt.Errorf("%w: its kind is %s, not EndpointPickerConfig", ErrNothing, shown(kind))
	}
	if group, _, _ := strings.Cut(root.get("apiVersion").word(), "/"); !slices.Contains(eppGroups, group) {
		notes.on(root.get("apiVersion"), "an unknown version, read as inference.networking.x-k8s.io/v1alpha1")
	}
	e := epp{draft: newDraft(notes), notes: notes, named: map[string]*value{}, names: names{},
		ours: map[string]string{}}
	e.draft.set("specialists[0].name", "pool", nil)
	e.plugins(root.get("plugins"))
	e.profiles(root.get("schedulingProfiles"))
	e.flow(root.get("flowControl"))
	e.draft.set("specialists[0].discover", map[string]string{}, nil)
	notes.add(0, ".", "the endpoints of an InferencePool are not in this file: they are replicas, or found by "+
		"discover.kubernetes: {namespace, service, port}; discover: {} has them registered")
	for _, name := range e.order {
		if v := e.named[name]; !e.used[name] {
			notes.on(v, "no profile refers to it")
		}
	}
	notes.rest(root, eppHints)
	return e.draft.settle()
}

var eppGroups = []string{"inference.networking.x-k8s.io", "inference.networking.k8s.io", "llm-d.ai"}

// epp is one adaptation.
type epp struct {
	draft *draft
	notes *Notes
	named map[string]*value // plugins by their names
	order []string
	used  map[string]bool
	names names
	ours  map[string]string // profiles' names by theirs
	two   bool              // a prefill and a decode profile
}

// plugins reads what profiles may refer to.
func (e *epp) plugins(list *value) {
	e.used = map[string]bool{}
	for _, v := range list.list() {
		kind, name := v.get("type").word(), v.get("name").word()
		if name == "" {
			name = kind
		}
		p, known := eppPlugins[kind]
		switch {
		case kind == "":
			e.notes.on(v, "left out: it has no type")
			continue
		case !known:
			e.notes.add(v.line, v.path, shown(kind)+" has no counterpart")
		case p.note != "":
			e.notes.add(v.line, v.path, p.note)
		}
		e.two = e.two || p.handles
		if p.stage == "handle" || !known {
			e.used[name] = true
		}
		if e.named[name] == nil {
			e.order = append(e.order, name)
		}
		e.named[name] = v
	}
}

// profiles adapts the scheduling profiles. Without one, there is one of all plugins.
func (e *epp) profiles(list *value) {
	all := list.list()
	if len(all) == 0 {
		p := newProfile(e, "default", nil)
		for _, name := range e.order {
			p.add(name, nil, nil)
		}
		p.write()
	}
	for i, v := range all {
		name := v.get("name")
		p := newProfile(e, name.word(), name)
		for _, ref := range v.get("plugins").list() {
			p.add(ref.get("pluginRef").word(), ref.get("weight"), ref)
		}
		p.write()
		if i == 0 && !e.two {
			e.draft.set("specialists[0].profile", p.name, name)
		}
	}
	if !e.two {
		for _, v := range all[min(1, len(all)):] {
			e.notes.add(v.line, v.path, "no specialist uses it: specialists[].profiles chooses between "+
				"profiles by rules")
		}
		return
	}
	e.draft.set("specialists[0].workflow", "disaggregated", nil)
	for _, leg := range [][2]string{{"prefill", "prefill.profile"}, {"decode", "decode_profile"}} {
		if name, there := e.ours[leg[0]]; there {
			e.draft.set("specialists[0].disaggregation."+leg[1], name, nil)
		}
	}
}

// flow adapts bounds of the queue before all endpoints.
func (e *epp) flow(v *value) {
	if most := v.get("maxBytes"); most != nil {
		e.draft.count("limits.queue_bytes", most, 0)
	}
	if ttl := v.get("defaultRequestTTL"); ttl.word() != "" {
		e.draft.set("limits.max_queue_wait", ttl.text, ttl)
	}
}

// profile is one that is being written.
type profile struct {
	*epp
	name                   string
	prepare, filter, score []any
	pick                   any
}

func newProfile(e *epp, theirs string, v *value) *profile {
	name := e.names.give("picker-" + strings.ReplaceAll(theirs, ".", "-"))
	p := &profile{epp: e, name: name, filter: []any{"health", "role", "breaker", "adapter"},
		pick: "max-score"}
	if _, there := e.ours[theirs]; there && v != nil {
		e.notes.add(v.line, v.path, shown(theirs)+" is given twice: this one is called "+p.name)
	} else {
		e.ours[theirs] = p.name
	}
	return p
}

// add puts a plugin where it belongs.
func (p *profile) add(name string, weight, ref *value) {
	v, there := p.named[name]
	if !there {
		p.notes.on(ref, "left out: there is no plugin %s", shown(name))
		return
	}
	p.used[name] = true
	of := eppPlugins[v.get("type").word()]
	if of.name == "" {
		weight.word()
		return
	}
	p.prepareFor(of.needs)
	switch params := p.params(v, of); of.stage {
	case "filter":
		p.filter = append(p.filter, with(of.name, params))
	case "pick":
		p.pick = with(of.name, params)
	case "score":
		p.score = append(p.score, p.weighted(of.name, params, weight))
	}
	p.remember(v)
}

// prepareFor adds what is to be prepared for a plugin, in the order in which it is.
func (p *profile) prepareFor(needs []string) {
	for _, need := range needs {
		if !slices.Contains(p.prepare, any(need)) {
			p.prepare = append(p.prepare, need)
		}
	}
}

// params returns the parameters of a plugin that ours has.
func (p *profile) params(v *value, of plugin) map[string]any {
	out := map[string]any{}
	v.get("parameters").each(func(key string, field *value) {
		if name := of.params[key]; name != "" {
			out[name] = plainly(field)
		}
	})
	return out
}

// remember adapts what a scorer by prefixes says of how much is remembered.
func (p *profile) remember(v *value) {
	params := v.get("parameters")
	if blocks := params.get("lruCapacityPerServer"); blocks != nil {
		p.draft.count("events.approximate.blocks", blocks, 0)
	}
	if tokens := params.get("blockSizeTokens"); tokens != nil {
		p.draft.count("specialists[0].block_size", tokens, 0)
	}
}

// weighted returns a scorer with its weight, 1 where none is given.
func (p *profile) weighted(name string, params map[string]any, weight *value) any {
	w, given := weight.number()
	switch {
	case weight != nil && (!given || w < 0 || w > 1e6):
		p.notes.on(weight, "left out, and 1 is taken: a weight is a number from 0 to 1000000")
		w = 1
	case !given:
		w = 1
	}
	if len(params) == 0 {
		return map[string]any{name: w}
	}
	params["weight"] = w
	return map[string]any{name: params}
}

// with returns a plugin with parameters, if it has any.
func with(name string, params map[string]any) any {
	if len(params) == 0 {
		return name
	}
	return map[string]any{name: params}
}

func (p *profile) write() {
	at := "profiles." + p.name + "."
	for _, stage := range []struct {
		key  string
		list []any
	}{{"prepare", p.prepare}, {"filter", p.filter}, {"score", p.score}} {
		if len(stage.list) > 0 {
			p.draft.set(at+stage.key, stage.list, nil)
		}
	}
	p.draft.set(at+"pick", p.pick, nil)
}

// plainly returns a value of the source as it is, and takes all of it.
func plainly(v *value) any {
	v.taken = true
	switch {
	case v.fields != nil:
		out := map[string]any{}
		v.each(func(key string, field *value) { out[key] = plainly(field) })
		return out
	case v.items != nil:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = plainly(item)
		}
		return out
	case v.tag == "!!bool":
		return v.yes()
	}
	if v.tag == "!!int" || v.tag == "!!float" {
		if n, err := strconv.ParseFloat(v.text, 64); err == nil {
			return n
		}
	}
	return strings.ReplaceAll(v.text, "${", "$${")
}
