package intake

import (
	"fmt"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing/index"
)

// vocabulary is what bodies may hold: the members of all kinds of engines.
var vocabulary = wire.NewVocabulary(wireMembers(engine.Members), engine.RefusedPrefixes)

var forms = map[engine.Form]wire.Form{
	engine.Any: wire.FormAny, engine.Flag: wire.FormFlag, engine.Whole: wire.FormWhole, engine.Real: wire.FormReal,
	engine.Text: wire.FormText, engine.Texts: wire.FormTexts, engine.Wholes: wire.FormWholes,
	engine.Weights: wire.FormWeights, engine.Object: wire.FormObject, engine.Objects: wire.FormObjects,
}

func wireMembers(list []engine.Member) []wire.Member {
	members := make([]wire.Member, len(list))
	for i, m := range list {
		members[i] = wire.Member{
			Name: m.Name, Takers: uint32(m.By), Form: forms[m.Form], Lo: m.Lo, Hi: m.Hi, Not: m.Not,
		}
	}
	return members
}

// Takers returns those of hosts that may be sent a body, which are all for one that every engine takes. The error
// names a member that keeps it from all of them; it is nil where there are no hosts either.
func Takers(rt *ensemble.Runtime, hosts index.HostBitmap, body *wire.Request) (index.HostBitmap, *apierr.Error) {
	if body.TakenByAll() || hosts.Empty() {
		return hosts, nil
	}
	var refusing *ensemble.Replica
	taking := hosts
	for h := range hosts.All() {
		if r := rt.Replicas[h]; r != nil && !r.Takes(body) {
			taking.Clear(h)
			refusing = r
		}
	}
	if !taking.Empty() {
		return taking, nil
	}
	return taking, apierr.New(apierr.UnsupportedParameter, body.NotTaken(refusing.Kinds(), vocabulary),
		fmt.Sprintf("is not known to %s engines, and no replica passes it on", refusing.Kind.Name))
}
