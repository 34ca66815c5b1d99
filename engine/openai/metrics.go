package openai

import (
	"context"

	"octet/engine"
)

// Metrics is what an engine says of its load. Engines differ in what they tell: ask Has before using a field.
type Metrics struct {
	Running, Waiting int     // requests in the batch; in the queue
	KVUsage          float64 // used part of the KV cache, 0…1; the mean over data-parallel ranks
	Blocks           int     // of the KV cache, over all ranks
	BlockSize        int     // tokens
	CapacityTokens   int     // of the KV cache, where an engine counts it in tokens
	Preemptions      uint64  // since the engine started; retractions are SGLang's word for them
	QueriedTokens    uint64  // prompt tokens looked up in the prefix cache since the engine started
	CachedTokens     uint64  // … and found there
	MaxAdapters      int     // resident at once
	RunningAdapters  []string
	WaitingAdapters  []string

	has   Field
	parts int // of CapacityTokens that were told
}

// Field names what an engine may tell, as a set.
type Field uint16

// One Field for each part of Metrics.
const (
	HasRunning Field = 1 << iota
	HasWaiting
	HasKVUsage
	HasBlocks
	HasBlockSize
	HasCapacityTokens
	HasPreemptions
	HasQueriedTokens
	HasCachedTokens
	HasAdapters // MaxAdapters, RunningAdapters and WaitingAdapters
)

// Tells reports whether the engine told anything.
func (m *Metrics) Tells() bool { return m.has != 0 }

// Has reports whether the engine told all of f.
func (m *Metrics) Has(f Field) bool { return m.has&f == f }

// Pool is the size of the KV cache in blocks of blockSize tokens, as far as the engine tells: vLLM counts blocks of its
// own size, SGLang tokens. 0 is unknown.
func (m *Metrics) Pool(blockSize int) int {
	switch {
	case m.Has(HasBlocks|HasBlockSize) && blockSize > 0:
		return m.Blocks * m.BlockSize / blockSize
	case m.Has(HasCapacityTokens) && blockSize > 0:
		return m.CapacityTokens / blockSize
	}
	return m.Blocks
}

// Grain is how many blocks of blockSize tokens one of the engine's own is. 0 is unknown, or no whole number.
func (m *Metrics) Grain(blockSize int) int {
	if !m.Has(HasBlockSize) || blockSize < 1 || m.BlockSize%blockSize != 0 {
		return 0
	}
	return m.BlockSize / blockSize
}

// Scrape reads the engine's metrics page: vLLM's names, old and new, with and without _total; SGLang's; llama.cpp's.
// What is not known there is not read, so that nothing else on the page can break it. The client of a rank reads what
// is said of that rank.
func (c *Client) Scrape(ctx context.Context) (Metrics, error) {
	page, err := c.Page(ctx)
	if err != nil {
		return Metrics{}, err
	}
	return ReadPage(page, c.rank)
}

// Page returns the engine's metrics page. It is the same for all of its ranks.
func (c *Client) Page(ctx context.Context) ([]byte, error) {
	return c.ask(ctx, "GET", c.paths.Metrics, nil, maxMetrics)
}

// ReadPage reads a metrics page as Scrape does. What a rank's own series do not say is not known of it: a sum over all
// ranks is no rank's.
func ReadPage(page []byte, rank engine.Rank) (Metrics, error) { return parseMetrics(page, rank) }
