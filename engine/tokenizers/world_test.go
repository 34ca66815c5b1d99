package tokenizers_test

import (
	"testing"

	"octet/engine/emulator"
	"octet/internal/apptest"
)

const smallWorld = apptest.Small

// shapes and between are short names.
var shapes, between = apptest.Shapes, apptest.Between

func smallEngines() []emulator.Config { return apptest.SmallEngines() }

// systems is a chat for the specialist of that name.
const systems = `{"model":"systems","max_tokens":12,"messages":[{"role":"user","content":"x"}]}`

// world is a gateway whose tokenizers are tested.
type world struct{ *apptest.World }

func newWorld(t testing.TB, yaml string, engines []emulator.Config, sets ...string) *world {
	t.Helper()
	return &world{apptest.New(t, yaml, engines, sets...)}
}
