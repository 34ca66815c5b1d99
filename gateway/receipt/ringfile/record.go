package ringfile

import (
	"encoding/binary"
	"hash/crc32"
	"hash/maphash"
)

// What stands before the records of a segment, and before a record's text.
const (
	startMagic  = "rseg"
	startSize   = 16 // magic, lap, CRC of both
	recordStart = 8  // length of the text, CRC of lap and text
	mostKey     = 255
)

var (
	table = crc32.MakeTable(crc32.Castagnoli)
	seed  = maphash.MakeSeed()
)

// hash is what the index knows a key by.
func hash(key string) uint64 { return maphash.String(seed, key) }

func appendStart(b []byte, lap uint64) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, startMagic...), lap)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, table))
}

// lapOf reads a segment's start; false if there is none.
func lapOf(b []byte) (uint64, bool) {
	if len(b) < startSize || string(b[:4]) != startMagic ||
		crc32.Checksum(b[:12], table) != binary.LittleEndian.Uint32(b[12:]) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[4:]), true
}

// appendRecord appends a record; its text is the key behind its length, then the value.
func appendRecord(b []byte, lap uint64, key string, value []byte) []byte {
	at := len(b)
	b = append(b, make([]byte, recordStart)...)
	b = append(append(append(b, byte(len(key))), key...), value...)
	text := b[at+recordStart:]
	binary.LittleEndian.PutUint32(b[at:], uint32(len(text)))
	binary.LittleEndian.PutUint32(b[at+4:], checksum(lap, text))
	return b
}

func checksum(lap uint64, text []byte) uint32 {
	var of [8]byte
	binary.LittleEndian.PutUint64(of[:], lap)
	return crc32.Update(crc32.Checksum(of[:], table), table, text)
}

// readRecord reads the record that b begins with; false if there is none of this lap. value lies in b.
func readRecord(b []byte, lap uint64) (key string, value []byte, size int, ok bool) {
	if len(b) < recordStart+1 {
		return "", nil, 0, false
	}
	n := binary.LittleEndian.Uint32(b)
	if n == 0 || uint64(n) > uint64(len(b)-recordStart) {
		return "", nil, 0, false
	}
	text := b[recordStart : recordStart+int(n)]
	if checksum(lap, text) != binary.LittleEndian.Uint32(b[4:]) || 1+int(text[0]) > len(text) {
		return "", nil, 0, false
	}
	name := 1 + int(text[0])
	return string(text[1:name]), text[name:], recordStart + int(n), true
}

// length returns the length of a record's text, as far as a segment can hold it.
func length(head []byte) int { return int(min(binary.LittleEndian.Uint32(head), SegmentSize)) }
