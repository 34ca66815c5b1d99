package sse

import (
	"bytes"
	"fmt"
)

// fields is what the lines of one event say.
type fields struct {
	data      []byte
	dataLines int
	failed    bool // named as an error, by its type or by a field "error"
}

// event judges a whole event and notes what it says; false when it ends the stream.
func (s *Scanner) event(event []byte) bool {
	s.edits = s.edits[:0]
	if data, ok := s.onlyData(event); ok {
		return s.data(event, data, false)
	}
	var f fields
	nl := newNewlines(event)
	for i := s.afterMark(event); i < len(event); {
		e := nl.next(i)
		if !s.line(event[i:e], &f) {
			s.err = fmt.Errorf("%w: a line that is no field", ErrGarbage)
			return false
		}
		i = e + 1 // the LF of a CRLF makes one more empty line, which says nothing
	}
	if len(f.data) == 0 {
		return true
	}
	return s.data(event, f.data, f.failed)
}

// onlyData is the data of an event of a single data line that ends in LF: almost every event.
func (s *Scanner) onlyData(event []byte) ([]byte, bool) {
	n := len(event) - 2
	if n < 5 || s.frame.lines != 1 || event[n] != '\n' || event[n-1] == '\r' || string(event[:5]) != "data:" {
		return nil, false
	}
	data := event[5:n]
	if len(data) > 0 && data[0] == ' ' {
		data = data[1:]
	}
	return data, len(data) > 0
}

// afterMark is where the text begins: after a byte order mark, where the stream may have one.
func (s *Scanner) afterMark(event []byte) int {
	if !s.began && bytes.HasPrefix(event, []byte("\xEF\xBB\xBF")) {
		return 3
	}
	return 0
}

// line reads one line into f, false when it is neither comment nor field.
func (s *Scanner) line(line []byte, f *fields) bool {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "":
	case "data":
		s.addData(value, f)
	case "event":
		f.failed = f.failed || string(value) == "error"
	case "error": // llama.cpp
		f.failed = true
		s.addData(value, f)
	default:
		return isWord(name)
	}
	return true
}

// addData joins data lines with LF. The first is kept in place; only an event of several is copied.
func (s *Scanner) addData(value []byte, f *fields) {
	switch f.dataLines++; f.dataLines {
	case 1:
		f.data = value
		return
	case 2:
		s.joined = append(s.joined[:0], f.data...)
	}
	s.joined = append(append(s.joined, '\n'), value...)
	f.data = s.joined
}

// isWord reports whether a field of this name may be one of a later day. Others are no event stream at all.
func isWord(name []byte) bool {
	for _, ch := range name {
		if ch|0x20 < 'a' || ch|0x20 > 'z' {
			if ch != '-' && ch != '_' && (ch < '0' || ch > '9') {
				return false
			}
		}
	}
	return true
}

// data notes what the data of one event says; false when it ends the stream.
func (s *Scanner) data(event, data []byte, failed bool) bool {
	if m := s.shape.data(data); !failed && m.size > 0 && s.spoken(m) {
		if m.hide.to > 0 {
			s.hideUsage(event, data, m.hide)
		}
		if s.opts.HideIDs {
			s.hideList(event, data, m.ids)
		}
		return true
	}
	if s.opts.Dialect != nil {
		return s.foreign(event, data, failed)
	}
	if string(bytes.TrimSpace(data)) == "[DONE]" {
		s.done = true
		return false
	}
	var c chunk
	if !c.read(data) {
		s.err = fmt.Errorf("%w: data that is not a JSON object", ErrGarbage)
		return false
	}
	if c.failed || failed {
		s.engine = c.engineError(data)
		s.err = s.engine
		return false
	}
	if string(c.finish) == aborted {
		s.engine = Aborted()
		s.err = s.engine
		return false
	}
	s.reasoned = s.reasoned || c.reasoning
	if c.hasUsage {
		s.usage, s.hasUsage = c.usage, true
	}
	s.judge(event, data, &c)
	return true
}

func (s *Scanner) collect(raw []byte) {
	if s.opts.Text != nil && len(raw) > 0 {
		s.opts.Text(raw)
	}
}
