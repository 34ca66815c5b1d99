package zmqstream

import (
	"slices"
	"strconv"
	"strings"

	"octet/routing/events"
	"octet/routing/index"
)

// translate appends what r says in our terms: nothing, one event, or two where a block's content stops being told by
// tokens.
func (d *decoder) translate(out []events.Event, r *raw) []events.Event {
	switch r.kind {
	case stored:
		return d.store(out, r)
	case removed:
		if _, sparse := d.sparse[r.group]; !sparse && len(r.hashes) > 0 {
			out = events.Append(out, events.Event{Kind: events.Evicted, Tier: tier(r.medium), Hashes: r.hashes})
		}
	case cleared:
		out = append(out, events.Event{Kind: events.Cleared})
	}
	return out
}

// store registers blocks. Those of groups that keep no whole prefix are no business of ours, and neither is their
// removal.
func (d *decoder) store(out []events.Event, r *raw) []events.Event {
	if isSparse(r.spec) && len(d.sparse) < maxGroups {
		if d.sparse == nil {
			d.sparse = map[int64]struct{}{}
		}
		d.sparse[r.group] = struct{}{}
	}
	if _, sparse := d.sparse[r.group]; sparse || len(r.hashes) == 0 {
		return out
	}
	adapter, salt := r.names()
	told := r.told(adapter, salt)
	e := events.Event{
		Kind: events.Registered, Tier: tier(r.medium), Adapter: adapter, Salt: salt,
		Parent: r.parent, Root: r.root, BlockSize: int(r.blockSize), Saltless: r.saltless && r.root && salt == "",
	}
	if told > 0 {
		e.Hashes, e.Tokens = r.hashes[:told:told], r.tokens[:told*e.BlockSize]
		out = events.Append(out, e)
	}
	if told < len(r.hashes) {
		e.Hashes, e.Tokens = r.hashes[told:], nil
		if told > 0 {
			e.Parent, e.Root = r.hashes[told-1], false
		}
		// Offload tiers name no parent whatever stands before.
		e.Root = e.Root && e.Tier == index.GPU
		if e.BlockSize < 1 || e.BlockSize > events.MaxBlockSize {
			e.BlockSize = 0
		}
		out = events.Append(out, e)
	}
	return out
}

// told returns how many of the leading blocks hold what their tokens say, under adapter and salt.
func (r *raw) told(adapter, salt string) int {
	n := len(r.hashes)
	if r.opaque || r.blockSize < 1 || r.blockSize > events.MaxBlockSize ||
		int64(len(r.tokens)) != r.blockSize*int64(n) {
		return 0
	}
	for i := range min(n, len(r.extras)) {
		for _, w := range r.extras[i].words {
			if w != adapter && (w != salt || i > 0) {
				return i
			}
		}
		if r.extras[i].other {
			return i
		}
	}
	return n
}

// names returns the adapter and the salt: from their own fields, else from the first block's words, where the adapter
// comes before the salt. An adapter that has a number only is called by that.
func (r *raw) names() (adapter, salt string) {
	adapter, salt = r.adapter, r.salt
	var words []string
	if len(r.extras) > 0 {
		words = r.extras[0].words
	}
	if adapter == "" && r.lora && len(words) > 0 {
		adapter = words[0]
	}
	if adapter == "" && r.lora {
		adapter = "lora_id=" + strconv.FormatInt(r.loraID, 10)
	}
	if i := slices.Index(words, adapter); i >= 0 {
		words = slices.Delete(slices.Clone(words), i, i+1)
	}
	if salt == "" && r.root && len(words) == 1 {
		salt = words[0]
	}
	return adapter, salt
}

// isSparse reports whether blocks of that kind of cache may be there without those before them.
func isSparse(spec string) bool {
	return strings.Contains(spec, "window") || strings.Contains(spec, "mamba") || strings.Contains(spec, "local") ||
		strings.Contains(spec, "chunked")
}

// tier maps an engine's word for where a block is to ours.
func tier(medium string) index.Tier {
	switch m := strings.ToUpper(medium); {
	case strings.HasPrefix(m, "CPU_TIER2"), m == "DISK", m == "NVME", m == "SSD", m == "STORAGE", m == "EXTERNAL",
		m == "NETWORK", m == "REMOTE", m == "SHARED":
		return index.SSD
	case strings.HasPrefix(m, "CPU"), m == "HOST", m == "HOST_PINNED":
		return index.CPU
	}
	return index.GPU
}
