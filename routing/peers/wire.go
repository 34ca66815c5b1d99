package peers

import (
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"octet/routing/peers/peerspb"
)

// told is what a message tells of one replica.
type told struct {
	replica uint64
	work    Work
}

// Numbers of fields, as peers.proto has them.
const (
	workField     = 8 // of Message
	replicaField  = 1 // of Work, like all below
	runningField  = 2
	waitingField  = 3
	urgentField   = 4
	backlogField  = 5
	tokensField   = 6
	blocksField   = 7
	answerMsField = 8
	tenantField   = 9
	hadField      = 10
	leftField     = 11
)

// read reads a message. What it tells of replicas, which is most of nearly all messages, is read in place and appended
// to list; the rest is m, whose Work is empty.
func read(text []byte, list []told) (m *peerspb.Message, _ []told, err error) {
	rest := make([]byte, 0, min(len(text), 128))
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeField(text)
		if n < 0 {
			return nil, list, fmt.Errorf("%w: %w", ErrMessage, protowire.ParseError(n))
		}
		if field := text[:n]; number != workField || kind != protowire.BytesType {
			rest = append(rest, field...)
		} else if list, err = readWork(field, list); err != nil {
			return nil, list, err
		}
		text = text[n:]
	}
	m = new(peerspb.Message)
	if err := proto.Unmarshal(rest, m); err != nil {
		return nil, list, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	return m, list, nil
}

// readWork appends what a field of a message tells of a replica. What it does not know it passes over.
func readWork(field []byte, list []told) ([]told, error) {
	_, _, n := protowire.ConsumeTag(field)
	text, _ := protowire.ConsumeBytes(field[n:])
	var w peerspb.Work
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeTag(text)
		if n < 0 {
			return list, fmt.Errorf("%w: %w", ErrMessage, protowire.ParseError(n))
		}
		text = text[n:]
		switch {
		case kind == protowire.VarintType:
			var value uint64
			value, n = varint(text)
			count(&w, int(number), value)
		case kind == protowire.Fixed64Type && number == replicaField:
			w.Replica, n = protowire.ConsumeFixed64(text)
		case kind == protowire.Fixed64Type && number == tenantField:
			w.Tenant, n = protowire.ConsumeFixed64(text)
		default:
			n = protowire.ConsumeFieldValue(number, kind, text)
		}
		if n < 0 {
			return list, fmt.Errorf("%w: %w", ErrMessage, protowire.ParseError(n))
		}
		text = text[n:]
	}
	if len(list) == MaxReplicas {
		return list, fmt.Errorf("%w: more than %d replicas", ErrMessage, MaxReplicas)
	}
	return append(list, told{w.Replica, fromWire(&w)}), nil
}

// varint is protowire.ConsumeVarint, at once for one or two bytes.
func varint(text []byte) (value uint64, n int) {
	switch {
	case len(text) > 0 && text[0] < 0x80:
		return uint64(text[0]), 1
	case len(text) > 1 && text[1] < 0x80:
		return uint64(text[0]&0x7f) | uint64(text[1])<<7, 2
	}
	return protowire.ConsumeVarint(text)
}

// count sets the field of that number.
func count(w *peerspb.Work, number int, value uint64) {
	switch number {
	case runningField:
		w.Running = uint32(value)
	case waitingField:
		w.Waiting = uint32(value)
	case urgentField:
		w.Urgent = uint32(value)
	case backlogField:
		w.Backlog = value
	case tokensField:
		w.Tokens = value
	case blocksField:
		w.Blocks = uint32(value)
	case answerMsField:
		w.AnswerMs = uint32(value)
	case hadField:
		w.Had = value
	case leftField:
		w.Left = value
	}
}

// appendWork appends to the fields of a message that which tells what is at a replica.
func appendWork(text []byte, replica uint64, w Work) []byte {
	const longest = 108 // bytes of all fields: nine varints of five or ten, two fixed ones, and their tags
	var space [longest]byte
	body := protowire.AppendFixed64(protowire.AppendTag(space[:0], replicaField, protowire.Fixed64Type), replica)
	put := func(number protowire.Number, n uint64) {
		if n > 0 {
			body = protowire.AppendVarint(protowire.AppendTag(body, number, protowire.VarintType), n)
		}
	}
	put(runningField, uint64(count32(w.Running)))
	put(waitingField, uint64(count32(w.Waiting)))
	if w.Waiting > 0 {
		put(urgentField, uint64(count32(w.Urgent+urgentBase)))
		put(hadField, uint64(max(w.Had, 0)))
		if w.Tenant != 0 {
			body = protowire.AppendFixed64(protowire.AppendTag(body, tenantField, protowire.Fixed64Type), w.Tenant)
		}
	}
	if w.Backlog > 0 {
		put(backlogField, uint64(w.Backlog))
		put(leftField, uint64(max(w.Left, 0))+1)
	}
	put(tokensField, uint64(max(w.Tokens, 0)))
	put(blocksField, uint64(count32(w.Blocks)))
	put(answerMsField, uint64(count32(int(w.Answer.Milliseconds()))))
	return protowire.AppendBytes(protowire.AppendTag(text, workField, protowire.BytesType), body)
}

// most bounds each number that is told, so that sums of all gateways' fit an int.
const most = 1 << 40

func fromWire(w *peerspb.Work) Work {
	urgent, tenant, had := 0, uint64(0), 0
	if w.GetWaiting() > 0 {
		tenant, had = w.GetTenant(), int(min(w.GetHad(), most))
		urgent = min(max(int(w.GetUrgent())-urgentBase, -urgentBase+1), urgentBase-1)
	}
	backlog := int(min(w.GetBacklog(), most))
	left := backlog // of an older gateway
	if told := w.GetLeft(); told > 0 {
		left = int(min(told-1, uint64(backlog)))
	}
	return Work{Running: int(w.GetRunning()), Waiting: int(w.GetWaiting()), Urgent: urgent,
		Tenant: tenant, Had: had, Backlog: backlog, Left: left, Tokens: int(min(w.GetTokens(), most)),
		Blocks: int(w.GetBlocks()), Answer: time.Duration(w.GetAnswerMs()) * time.Millisecond}
}

// count32 is n as fields of 32 bits have it.
func count32(n int) uint32 { return uint32(min(max(n, 0), math.MaxInt32)) }
