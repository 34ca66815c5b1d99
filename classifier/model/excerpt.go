package model

import "bytes"

const (
	maxRead  = 12 << 10 // bytes of a text that are read
	headRead = 8 << 10  // of these, from its start where it is longer
)

// excerpt is text, or its head and its tail where it is longer than what is read. Words that were cut are left out.
func (d *desk) excerpt(text []byte) []byte {
	if len(text) <= maxRead {
		return text
	}
	head, tail := text[:headRead], text[len(text)-(maxRead-headRead):]
	if end := bytes.LastIndexByte(head, '\n'); end > 0 {
		head = head[:end+1]
	}
	if start := bytes.IndexByte(tail, '\n'); start >= 0 {
		tail = tail[start:]
	}
	d.cut = append(append(d.cut[:0], head...), tail...)
	return d.cut
}
