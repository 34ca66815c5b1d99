package plugins

import (
	"fmt"
	"maps"
	"sync"

	"octet/routing"
)

// registered are the plugins that Register was given.
var (
	registeredMu sync.Mutex
	registered   = map[string]func(Deps) routing.Factory{} // by name; guarded by registeredMu
)

// Register adds a plugin of your own under a name: every Registry made from then on has it beside the others, so that a
// profile can name it and octet check knows it. A main calls it before cmd.Execute, see examples/geo. It panics if the
// name is empty or taken.
func Register(name string, factory func(Deps) routing.Factory) {
	_, taken := Registry(Deps{})[name]
	registeredMu.Lock()
	defer registeredMu.Unlock()
	if _, again := registered[name]; name == "" || taken || again {
		panic(fmt.Sprintf("plugins: %q cannot be registered: the name is empty or taken", name))
	}
	registered[name] = factory
}

// addRegistered adds what Register was given.
func addRegistered(r routing.Registry, d Deps) {
	registeredMu.Lock()
	all := maps.Clone(registered)
	registeredMu.Unlock()
	for name, factory := range all {
		r[name] = factory(d)
	}
}
