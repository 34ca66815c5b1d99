package routing

import (
	"fmt"
	"math"
	"slices"
)

// Build checks spec whole and resolves it. The error is Faults, with everything that is wrong; a profile that is built
// cannot fail for its composition later. Plugins may hold state per profile (a rotation): build one profile for each
// specialist.
func Build(spec ProfileSpec, reg Registry) (*Profile, error) {
	b := builder{spec: spec, reg: reg}
	b.instantiate()
	b.checkSlots()
	b.checkNeeds()
	b.checkExcludes()
	if len(b.faults) > 0 {
		return nil, b.faults
	}
	return b.profile(), nil
}

// builder is one Build under way.
type builder struct {
	spec   ProfileSpec
	reg    Registry
	faults Faults
	parts  []part // in the order of the spec; what could not be made is left out

	preparerUnknown bool // a slot without a writer may be its slot
	anyUnknown      bool // an unread slot may be its to read
}

// part is a plugin in its place.
type part struct {
	plugin Plugin
	stage  Stage
	pos    string
	weight float64
	reads  []slotUse
	writes []slotUse
}

func (b *builder) instantiate() {
	for i, s := range b.spec.Prepare {
		b.add(StagePrepare, i, s, 0)
	}
	for i, s := range b.spec.Filter {
		b.add(StageFilter, i, s, 0)
	}
	for i, s := range b.spec.Score {
		b.add(StageScore, i, s.PluginSpec, s.Weight)
	}
	b.add(StagePick, 0, b.spec.Pick, 0)
}

// add makes one plugin and checks everything about it that does not depend on others.
func (b *builder) add(stage Stage, i int, s PluginSpec, weight float64) {
	pos := b.position(stage, i, s)
	if stage == StagePick && s.Name == "" {
		b.fault(Fault{Code: CodeNoPicker, Pos: pos}, "exactly one picker is needed")
		return
	}
	plugin := b.make(s, pos)
	if plugin == nil {
		b.anyUnknown = true
		b.preparerUnknown = b.preparerUnknown || stage == StagePrepare
		return
	}
	p := part{plugin: plugin, stage: stage, pos: pos, weight: weight, reads: uses(plugin.Reads())}
	if preparer, ok := plugin.(Preparer); ok && stage == StagePrepare {
		p.writes = uses(preparer.Writes())
	}
	b.checkPart(p)
	b.parts = append(b.parts, p)
}

// make returns nil where the registry has no such plugin.
func (b *builder) make(s PluginSpec, pos string) Plugin {
	factory, ok := b.reg[s.Name]
	if !ok {
		b.fault(Fault{Code: CodeUnknownPlugin, Plugin: s.Name, Pos: pos}, "no plugin is called %q", s.Name)
		return nil
	}
	params := Params{values: s.Params, headers: b.spec.Headers}
	plugin := factory(&params)
	if plugin == nil {
		panic(fmt.Sprintf("routing: the factory of %q made nothing", s.Name))
	}
	params.rest()
	for _, f := range params.faults {
		b.fault(Fault{Code: f.Code, Plugin: s.Name, Pos: pos}, "%s %s", s.Name, f.Message)
	}
	return plugin
}

func (b *builder) checkPart(p part) {
	name := p.plugin.Name()
	switch {
	case p.fits():
	case p.stage != StagePick && isPicker(p.plugin) && b.spec.Pick.Name != "":
		b.fault(p.fault(CodeManyPickers), "%s is a picker, of which a profile has exactly one, under pick", name)
	default:
		b.fault(p.fault(CodeWrongStage), "%s cannot stand under %s", name, p.stage)
	}
	if p.stage == StageScore && !(p.weight > 0 && p.weight <= math.MaxFloat64) {
		b.fault(p.fault(CodeWeight), "%s has weight %v, want a finite number over 0", name, p.weight)
	}
	if p.stage == StagePrepare && len(p.writes) == 0 && p.fits() {
		b.fault(p.fault(CodeUnusedWrite), "%s writes no slot", name)
	}
	same := func(o part) bool { return o.stage == StageScore && o.plugin.Name() == name }
	if p.stage == StageScore && slices.ContainsFunc(b.parts, same) {
		b.fault(p.fault(CodeDuplicatePlugin), "%s is listed twice: give it one weight", name)
	}
}

// checkNeeds checks the dependencies on other plugins.
func (b *builder) checkNeeds() {
	for _, p := range b.parts {
		needer, ok := p.plugin.(Needer)
		if !ok {
			continue
		}
		for _, need := range needer.Needs() {
			if !slices.ContainsFunc(b.parts, func(o part) bool { return o.plugin.Name() == need }) {
				b.fault(p.fault(CodeMissingDependency), "%s needs %s in the same profile", p.plugin.Name(), need)
			}
		}
	}
}

// checkExcludes checks that no plugin stands beside one that it excludes.
func (b *builder) checkExcludes() {
	for _, p := range b.parts {
		excluder, ok := p.plugin.(Excluder)
		if !ok {
			continue
		}
		for _, o := range b.parts {
			if name := o.plugin.Name(); slices.Contains(excluder.Excludes(), name) {
				b.fault(p.fault(CodePluginConflict), "%s cannot stand beside %s", p.plugin.Name(), name)
			}
		}
	}
}

// fits returns true if the plugin can do what its stage asks for.
func (p part) fits() (ok bool) {
	switch p.stage {
	case StagePrepare:
		_, ok = p.plugin.(Preparer)
	case StageFilter:
		_, ok = p.plugin.(Filter)
	case StageScore:
		_, ok = p.plugin.(Scorer)
	case StagePick:
		_, ok = p.plugin.(Picker)
	}
	return ok
}

func isPicker(p Plugin) bool {
	_, ok := p.(Picker)
	return ok
}

func (b *builder) position(stage Stage, i int, s PluginSpec) string {
	switch {
	case s.Pos != "":
		return s.Pos
	case stage == StagePick:
		return fmt.Sprintf("profiles.%s.pick", b.spec.Name)
	}
	return fmt.Sprintf("profiles.%s.%s[%d]", b.spec.Name, stage, i)
}

// fault notes f, complete but for profile and message.
func (b *builder) fault(f Fault, format string, args ...any) {
	f.Profile, f.Message = b.spec.Name, fmt.Sprintf(format, args...)
	b.faults = append(b.faults, f)
}

// fault returns the beginnings of a Fault of this part.
func (p part) fault(code Code) Fault { return Fault{Code: code, Plugin: p.plugin.Name(), Pos: p.pos} }

// slotFault is fault with a slot.
func (p part) slotFault(code Code, u slotUse) Fault {
	f := p.fault(code)
	f.Slot = u.name
	return f
}

func uses(slots []AnySlot) []slotUse {
	us := make([]slotUse, len(slots))
	for i, s := range slots {
		us[i] = s.use()
	}
	return us
}
