package enginehash

import "encoding/binary"

// What is written here of Python's pickle, protocol 5 (PEP 574, Lib/pickletools.py). Every object that is not a number
// or None is memoized, though nothing is ever referred to.
const (
	opProto    = 0x80
	opFrame    = 0x95
	opMark     = '('
	opTuple    = 't'
	opTuple1   = 0x85 // and of two and of three after it
	opEmpty    = ')'
	opMemoize  = 0x94
	opBytes    = 'C'  // with a length of one byte
	opText     = 0x8c // likewise
	opLongText = 'X'  // with a length of four
	opInt1     = 'K'
	opInt2     = 'M'
	opInt4     = 'J' // signed
	opLong     = 0x8a
	opNone     = 'N'
	opStop     = '.'
)

const (
	frameAt   = 2       // where the frame's opcode is
	frameHead = 9       // bytes: its opcode and its length
	frameEnd  = 1 << 16 // bytes from which on an object begins a frame of its own
)

func pickleBegin(out []byte) []byte {
	return append(out, opProto, 5, opFrame, 0, 0, 0, 0, 0, 0, 0, 0)
}

// pickleEnd closes the last frame, which begins at byte frame of out.
func pickleEnd(out []byte, frame int) []byte {
	out = append(out, opStop)
	binary.LittleEndian.PutUint64(out[frame+1:], uint64(len(out)-frame-frameHead))
	return out
}

func pickleText(out []byte, text string) []byte {
	return pickleEnd(pickleString(pickleBegin(out), text), frameAt)
}

func pickleString(out []byte, text string) []byte {
	if len(text) < 1<<8 {
		out = append(out, opText, byte(len(text)))
	} else {
		out = binary.LittleEndian.AppendUint32(append(out, opLongText), uint32(len(text)))
	}
	return append(append(out, text...), opMemoize)
}

// pickleBlock writes (parent, (tokens), (adapter, salt) or None).
func pickleBlock(out, parent []byte, tokens []uint32, adapter, salt string) []byte {
	out = pickleBegin(out)
	out = append(append(out, opBytes, byte(len(parent))), parent...)
	out = append(out, opMemoize)
	if len(tokens) > 3 {
		out = append(out, opMark)
	}
	frame := frameAt
	for _, t := range tokens {
		out, frame = pickleTurn(out, frame)
		out = pickleInt(out, t)
	}
	out, frame = pickleTurn(pickleTuple(out, len(tokens)), frame)
	n := names(adapter, salt)
	for _, text := range [...]string{adapter, salt} {
		if text != "" {
			out, frame = pickleTurn(out, frame)
			out = pickleString(out, text)
		}
	}
	if n == 0 {
		out = append(out, opNone)
	} else {
		out = pickleTuple(out, n)
	}
	return pickleEnd(append(out, opTuple1+2, opMemoize), frame)
}

// pickleTuple ends a tuple of n.
func pickleTuple(out []byte, n int) []byte {
	switch {
	case n == 0:
		return append(out, opEmpty) // there is one only, which needs no memo
	case n <= 3:
		return append(out, opTuple1+byte(n-1), opMemoize)
	}
	return append(out, opTuple, opMemoize)
}

func pickleInt(out []byte, t uint32) []byte {
	switch {
	case t < 1<<8:
		return append(out, opInt1, byte(t))
	case t < 1<<16:
		return binary.LittleEndian.AppendUint16(append(out, opInt2), uint16(t))
	case t < 1<<31:
		return binary.LittleEndian.AppendUint32(append(out, opInt4), t)
	}
	return append(binary.LittleEndian.AppendUint32(append(out, opLong, 5), t), 0)
}

// pickleTurn begins another frame where the one that began at byte frame is full, before an object.
func pickleTurn(out []byte, frame int) ([]byte, int) {
	size := len(out) - frame - frameHead
	if size < frameEnd {
		return out, frame
	}
	binary.LittleEndian.PutUint64(out[frame+1:], uint64(size))
	return append(out, opFrame, 0, 0, 0, 0, 0, 0, 0, 0), len(out)
}
