package adapters_test

import (
	"testing"
	"testing/synctest"

	"octet/adapters"
)

// MEGA-68: of two requests whose engine has lost their adapter the second asks again too, though the first has had it
// loaded by then. One that the engine refuses for another reason does not.
func TestAllThatAnEngineHasForgottenAskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newStub(t, 2)
		k := kept(t, adapters.Rules{}, []adapters.Adapter{{Name: "a", Path: "/a"}}, engine)
		defer k.Close()
		ask := adapters.Ask{Served: "a"}
		hold := func() adapters.Hold {
			h, _, err := k.Hold(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		first, second := hold(), hold()
		if second.Lost(t.Context()) {
			t.Error("its engine has it")
		}
		engine.forget("a")
		if !first.Lost(t.Context()) {
			t.Error("the first one's engine has lost it")
		}
		first.Release()
		first = hold() // loaded again
		if !second.Lost(t.Context()) {
			t.Error("the second one's engine had lost it, and has it again for the first")
		}
		second.Release()
		second = hold()
		for name, h := range map[string]*adapters.Hold{"first": &first, "second": &second} {
			if h.Lost(t.Context()) {
				t.Errorf("the %s holds what its engine has", name)
			}
			h.Release()
		}
	})
}

// forget has the engine unload an adapter by itself.
func (s *stub) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.loaded, name)
}
