package field

// Habit is what the heads on one connection have in common: a peer sends the same lines again, but for the values
// of some fields. A head that is like the one before is found whole, and its values with it, in one pass
// that looks at each byte once.
//
// It is learnt from a head that was read with care: Forget, Learn for each field, Keep.
type Habit struct {
	line   string // the first one with its CRLF; "" is no habit
	fields []Custom
}

// Custom is one field of a habit.
type Custom struct {
	spelt    string // the name as it is sent, with its colon
	From, To int32  // where its value lies, blanks around it included, in the head that was located last
	Kind     uint8  // the learner's
}

// mostCustoms is how many fields a habit may have.
const mostCustoms = 32

// Forget ends the habit.
func (h *Habit) Forget() { h.line, h.fields = "", h.fields[:0] }

// Learn takes down the next field: its name with the colon, and what it means to the learner.
func (h *Habit) Learn(spelt string, kind uint8) {
	if len(h.fields) <= mostCustoms {
		h.fields = append(h.fields, Custom{spelt: spelt, Kind: kind})
	}
}

// Keep makes a habit of what was learnt. line is the first line with its CRLF.
func (h *Habit) Keep(line string) {
	if len(h.fields) <= mostCustoms {
		h.line = line
	}
}

// Fields returns the fields in their order.
func (h *Habit) Fields() []Custom { return h.fields }

// Locate returns the length of the head at the beginning of b, its empty line included; 0 is that it is not like the
// one before, that a value of it holds a control character, or that it is not all there.
func (h *Habit) Locate(b []byte) int {
	at := len(h.line)
	if at == 0 || len(b) < at || string(b[:at]) != h.line {
		return 0
	}
	for i := range h.fields {
		f := &h.fields[i]
		from := at + len(f.spelt)
		if len(b) < from || string(b[at:from]) != f.spelt {
			return 0
		}
		end := Control(b, from)
		if !endsLine(b, end) {
			return 0
		}
		f.From, f.To, at = int32(from), int32(end), end+2
	}
	if !endsLine(b, at) {
		return 0
	}
	return at + 2
}

func endsLine(b []byte, at int) bool { return at+1 < len(b) && b[at] == '\r' && b[at+1] == '\n' }
