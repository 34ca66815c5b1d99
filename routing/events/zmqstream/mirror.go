package zmqstream

import (
	"strconv"

	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
	"octet/routing/events/zmtp"
	"octet/routing/index"
)

// mirror is what an engine holds on its GPU, by the names of blocks. The nil mirror follows nothing.
type mirror map[uint64]held

// held is one block.
type held struct {
	parent uint64 // 0 at a chain's beginning
	copies int
}

// follow carries out events that were published.
func (m mirror) follow(all []events.Event) {
	if m == nil {
		return
	}
	for i := range all {
		e := &all[i]
		switch {
		case e.Kind == events.Cleared || e.Kind == events.Shutdown:
			clear(m)
		case e.Tier != index.GPU:
		case e.Kind == events.Registered:
			parent := e.Parent
			for _, h := range e.Hashes {
				m[h] = held{parent, m[h].copies + 1}
				parent = h
			}
		case e.Kind == events.Evicted:
			for _, h := range e.Hashes {
				m.evict(h)
			}
		}
	}
}

func (m mirror) evict(h uint64) {
	b, ok := m[h]
	if b.copies--; b.copies > 0 {
		m[h] = b
	} else if ok {
		delete(m, h)
	}
}

// ordered returns the names of all blocks, each after the one that it follows.
func (m mirror) ordered() []uint64 {
	all, seen := make([]uint64, 0, len(m)), make(map[uint64]bool, len(m))
	var above []uint64
	for h := range m {
		above = above[:0]
		for _, there := m[h]; there && !seen[h]; _, there = m[h] {
			seen[h] = true
			above = append(above, h)
			h = m[h].parent
		}
		for i := range above {
			all = append(all, above[len(above)-1-i])
		}
	}
	return all
}

// chunkRecords is how many blocks one message of a snapshot has.
const chunkRecords = 4096

// tell answers each request of one peer for a snapshot.
func (p *Publisher) tell(conn *zmtp.Conn) {
	for {
		frames, err := conn.Receive()
		if err != nil {
			return
		}
		if n := len(frames); n == 0 || string(frames[n-1]) != snapshotRequest {
			err = conn.Send(nil, []byte("error"), []byte("no such request"))
		} else {
			err = p.tellAll(conn)
		}
		if err != nil {
			return
		}
	}
}

// tellAll sends what is held now.
func (p *Publisher) tellAll(conn *zmtp.Conn) error {
	p.mu.Lock()
	life, next, all := p.epoch, p.last, p.mirror.ordered() // numbers begin at 0: the last one is before Seq
	parents := make([]uint64, len(all))
	for i, h := range all {
		parents[i] = p.mirror[h].parent
	}
	p.mu.Unlock()
	header := msgp.AppendArrayHeader(nil, snapshotFields)
	header = msgp.AppendInt(header, snapshotVersion)
	header = msgp.AppendString(header, strconv.FormatUint(life, 16))
	header = msgp.AppendInt(header, p.config.Rank)
	header = msgp.AppendUint64(header, next)
	header = msgp.AppendUint64(header, next)
	header = msgp.AppendString(header, strconv.FormatUint(next, 16))
	header = msgp.AppendInt(header, len(all))
	if err := conn.Send(nil, []byte("header"), header); err != nil {
		return err
	}
	for len(all) > 0 {
		n := min(chunkRecords, len(all))
		chunk := msgp.AppendArrayHeader(nil, uint32(n))
		for i, h := range all[:n] {
			chunk = appendRecord(chunk, parents[i], h)
		}
		if err := conn.Send(nil, []byte("chunk"), chunk); err != nil {
			return err
		}
		all, parents = all[n:], parents[n:]
	}
	return conn.Send(nil, []byte("end"), nil)
}

// appendRecord writes one block as SGLang does, whose names are signed.
func appendRecord(b []byte, parent, h uint64) []byte {
	b = msgp.AppendArrayHeader(b, 2)
	if parent == 0 {
		b = msgp.AppendNil(b)
	} else {
		b = msgp.AppendInt64(b, int64(parent))
	}
	return msgp.AppendInt64(msgp.AppendArrayHeader(b, 1), int64(h))
}
