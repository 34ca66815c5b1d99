package discovery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"octet/config"
)

// builder makes one Plan.
type builder struct {
	members *Members
	c       *config.Config
	fleet   Fleet
	now     time.Time
	plan    *Plan
	names   map[string]bool // that are taken
	room    int             // replicas that may still be added
	free    int             // slots for new ones

	addresses addresses // that are taken
}

// addresses are what URLs replicas have, whole or by ranks.
type addresses map[string]bool

func (a addresses) take(rep *config.Replica) {
	a[rep.Address()] = true
	if rep.DPRank != nil {
		a[config.SameURL(rep.URL)+ranks] = true
	}
}

// taken returns true if rep can have its address no more: another has it, or the engine is there whole, or by ranks,
// where rep is not.
func (a addresses) taken(rep *config.Replica) bool {
	other := config.SameURL(rep.URL)
	if rep.DPRank == nil {
		other += ranks
	}
	return a[rep.Address()] || a[other]
}

const ranks = " ranks"

// list counts the replicas that the configuration lists, and returns it without those for which there is no slot yet.
func (b *builder) list() *config.Config {
	b.room, b.free = config.MaxReplicas, b.fleet.Free()
	waits := map[string]bool{} // by name
	for i := range b.c.Specialists {
		sp := &b.c.Specialists[i]
		for j := range sp.Replicas {
			rep := &sp.Replicas[j]
			b.names[rep.Name] = true
			b.addresses.take(rep)
			b.room--
			if !b.slot(sp, rep) {
				waits[rep.Name], b.plan.Coming[sp.Name] = true, true
			}
		}
	}
	return without(b.c, func(rep config.Replica) bool { return waits[rep.Name] })
}

// slot returns true if a replica has a slot, or takes one of those that are free. One that does not is pending.
func (b *builder) slot(sp *config.Specialist, rep *config.Replica) bool {
	if b.fleet.Stays(sp, rep) {
		return true
	}
	if b.free <= 0 {
		b.plan.Pending++
		return false
	}
	b.free--
	return true
}

func (b *builder) refuse(f Found, path, code, why string) {
	of := b.plan.Refused[f.Specialist]
	if of == nil {
		of = map[string][]Refusal{}
		b.plan.Refused[f.Specialist] = of
	}
	of[f.Replica.Source] = append(of[f.Replica.Source], Refusal{cmp.Or(f.Replica.Name, f.Replica.URL),
		path, code, why})
}

// inForce returns true if a replica of that name, specialist and address is in force.
func (m *Members) inForce(f Found) bool {
	in, ok := m.in[f.Replica.Name]
	return ok && in.Specialist == f.Specialist && in.Replica.URL == f.Replica.URL &&
		in.Replica.Rank() == f.Replica.Rank()
}

// distinct returns found in the order of precedence: those in force, then the others, of each specialist in turn.
// Names and addresses that are taken are left out.
func (b *builder) distinct(found []Found) []Found {
	type ranked struct {
		Found
		turn int // 0 = in force
	}
	turns, all := map[string]int{}, make([]ranked, len(found))
	for i, f := range found {
		all[i].Found = f
		if !b.members.inForce(f) {
			turns[f.Specialist]++
			all[i].turn = turns[f.Specialist]
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.turn, b.turn) })
	out := make([]Found, 0, len(all))
	for _, f := range all {
		switch {
		case specialist(b.c, f.Specialist) == nil:
			b.refuse(f.Found, "specialist", config.CodeUnknownName, "there is no such specialist any more")
		case b.names[f.Replica.Name]:
			b.refuse(f.Found, "name", config.CodeDuplicateName, "another replica has the name")
		case b.addresses.taken(&f.Replica):
			b.refuse(f.Found, "url", config.CodeDuplicateURL, "another replica has the URL "+f.Replica.URL)
		default:
			b.names[f.Replica.Name] = true
			b.addresses.take(&f.Replica)
			out = append(out, f.Found)
		}
	}
	return out
}

// choose returns the first of found that make a configuration without faults, no more than there is room for.
func (b *builder) choose(found []Found) []Found {
	bad := map[string]bool{} // by name
	for {
		chosen := make([]Found, 0, min(len(found), b.room))
		over := 0
		for _, f := range found {
			switch {
			case bad[f.Replica.Name]:
			case len(chosen) < b.room:
				chosen = append(chosen, f)
			default:
				over++
			}
		}
		_, refused := config.Join(b.c, bySpecialist(chosen), config.Options{})
		if len(refused) == 0 {
			b.tooMany(found, bad, over)
			return chosen
		}
		for _, r := range refused {
			bad[r.Replica.Name] = true
			b.refuse(Found{r.Specialist, r.Replica}, r.Fault.Path, r.Fault.Code, r.Fault.Message)
		}
	}
}

// tooMany notes the last over of found that are not bad.
func (b *builder) tooMany(found []Found, bad map[string]bool, over int) {
	for i := len(found) - 1; i >= 0 && over > 0; i-- {
		if !bad[found[i].Replica.Name] {
			over--
			b.refuse(found[i], "", config.CodeTooMany,
				fmt.Sprintf("one gateway can tell %d replicas apart, those in force first", config.MaxReplicas))
		}
	}
}

// fit leaves out new replicas for which there is no slot yet.
func (b *builder) fit(chosen []Found) []Found {
	out := chosen[:0:0]
	for _, f := range chosen {
		if b.slot(specialist(b.c, f.Specialist), &f.Replica) {
			out = append(out, f)
		}
	}
	b.room -= len(out)
	return out
}

// keep finishes the plan with chosen, and with those in force that are found no more, for as long as they may stay.
func (b *builder) keep(chosen []Found) {
	for _, f := range chosen {
		b.plan.members[f.Replica.Name] = member{Found: f}
	}
	staying := b.staying()
	for _, one := range staying {
		b.plan.members[one.Replica.Name] = one
		b.plan.Left[one.Replica.Name] = true
		chosen = append(chosen, one.Found)
	}
	joined, refused := config.Join(b.c, bySpecialist(chosen), config.Options{})
	for _, r := range refused { // the configuration has changed under what is kept
		delete(b.plan.members, r.Replica.Name)
		delete(b.plan.Left, r.Replica.Name)
	}
	b.plan.Config = joined
	if b.plan.Pending > 0 {
		b.due(slotAgain)
	}
}

// slotAgain is how soon a slot is looked for again, and whether a replica that is to go is idle.
const slotAgain = 100 * time.Millisecond

// staying returns the replicas in force that are found no more and stay, those that left last first.
func (b *builder) staying() []member {
	keep := b.c.Fleet.Discovery.Keep
	var all []member
	for name, one := range b.members.in {
		if b.names[name] || b.addresses.taken(&one.Replica) || specialist(b.c, one.Specialist) == nil {
			continue
		}
		if one.left.IsZero() {
			one.left = b.now
		}
		rest := keep - b.now.Sub(one.left)
		if b.members.ended[name] {
			if !b.fleet.Busy(name) {
				continue
			}
			rest = min(rest, slotAgain)
		}
		if keep-b.now.Sub(one.left) > 0 {
			all = append(all, one)
			b.due(rest)
		}
	}
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(b.left.Compare(a.left), cmp.Compare(a.Replica.Name, b.Replica.Name))
	})
	return all[:max(0, min(len(all), b.room, len(all)-b.plan.Pending))]
}

// due has another plan made after so long.
func (b *builder) due(after time.Duration) {
	if b.plan.Again == 0 || after < b.plan.Again {
		b.plan.Again = max(after, time.Millisecond)
	}
}

// bySpecialist returns the replicas of each specialist, by name.
func bySpecialist(all []Found) map[string][]config.Replica {
	out := map[string][]config.Replica{}
	for _, f := range all {
		out[f.Specialist] = append(out[f.Specialist], f.Replica)
	}
	for _, of := range out {
		slices.SortFunc(of, func(a, b config.Replica) int { return cmp.Compare(a.Name, b.Name) })
	}
	return out
}

// specialist returns the specialist of a name; nil if there is none.
func specialist(c *config.Config, name string) *config.Specialist {
	for i := range c.Specialists {
		if c.Specialists[i].Name == name {
			return &c.Specialists[i]
		}
	}
	return nil
}
