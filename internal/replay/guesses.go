package replay

import (
	"time"

	"octet/kvpool"
	"octet/routing/approx"
	"octet/routing/index"
)

// guesses are what is known of caches without events: what was routed where. They answer as the index does.
type guesses struct{ *approx.Index }

func newGuesses() (*guesses, error) {
	x, err := approx.New(approx.Config{})
	return &guesses{x}, err
}

// Depths implements plugins.Index. A replay asks DepthsAt.
func (g *guesses) Depths(chain []kvpool.BlockHash, among index.HostBitmap, out *[index.MaxHosts]uint16) {
	g.DepthsAt(chain, among, time.Time{}, out)
}

// DepthsAt implements plugins.Guesser.
func (g *guesses) DepthsAt(chain []kvpool.BlockHash, among index.HostBitmap, now time.Time,
	out *[index.MaxHosts]uint16) {
	g.Index.Depths(chain, among, now, out)
}

// Stale implements plugins.Index.
func (g *guesses) Stale() (none index.HostBitmap) { return none }
