package events

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"octet/internal/allocs"
	"octet/routing/index"
)

// sample has every field of every kind of event.
var sample = Batch{
	Replica: "debug-0", Epoch: math.MaxUint64, Seq: 3, At: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.UTC),
	Events: []Event{
		{Kind: Registered, Adapter: "gdb-v2", Salt: "acme", Hashes: []uint64{11, math.MaxUint64}, Root: true,
			Tokens: []uint32{1, 2, 300, 4}, BlockSize: 2},
		{Kind: Registered, Tier: index.CPU, Hashes: []uint64{12}, Parent: 11},
		{Kind: Evicted, Tier: index.SSD, Hashes: []uint64{9}},
		{Kind: Cleared},
		{Kind: Shutdown},
	},
}

// golden compares got with a file of testdata, as it was when others began to rely on it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(want)) != string(got) {
		t.Errorf("%s\n got %s\nwant %s", name, got, want)
	}
}

func TestTheBytesOnTheWireStayWhatTheyAre(t *testing.T) {
	binary, err := Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "batch.hex", []byte(hex.EncodeToString(binary)))
	text, err := MarshalJSON(sample)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "batch.json", text)
	for _, data := range [][]byte{binary, text} {
		b, err := Unmarshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(sample, b); d != "" {
			t.Error(d)
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestJSONTakesNumbersAndUnknownFields(t *testing.T) {
	b, err := UnmarshalJSON([]byte(` {"replica":"r","epoch":2,"seq":18446744073709551615,"future":{"x":[1,{}]},"events":[
		{"kind":"REGISTERED","hashes":[11,"12"],"root":true,"tokens":[1,2],"block_size":1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Batch{Replica: "r", Epoch: 2, Seq: math.MaxUint64, Events: []Event{
		{Kind: Registered, Hashes: []uint64{11, 12}, Root: true, Tokens: []uint32{1, 2}, BlockSize: 1},
	}}
	if d := cmp.Diff(want, b); d != "" {
		t.Error(d)
	}
}

// A name of 123 bytes has '{' for its length: the second byte of the message.
func TestNoBinaryFormIsTakenForJSON(t *testing.T) {
	for n := 1; n <= MaxNameBytes; n++ {
		want := Batch{Replica: strings.Repeat("x", n), Epoch: 1, Seq: 1, Events: []Event{}}
		data, err := Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unmarshal(data); err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%d bytes: %v %v", n, got, err)
		}
	}
}

func TestBadMessagesAreRefusedWithTheirGrain(t *testing.T) {
	long := strings.Repeat("x", MaxNameBytes+1)
	for name, c := range map[string]struct {
		data  string
		grain error
	}{
		"nothing":           {"", ErrInvalid},
		"noise":             {"\xff\xff\xff", ErrMalformed},
		"cut short":         {"\x0a\x07debug", ErrMalformed},
		"not UTF-8":         {"\x0a\x01\xff", ErrMalformed},
		"not JSON":          {`{"replica":`, ErrMalformed},
		"two objects":       {`{"replica":"r"}{}`, ErrMalformed},
		"twice the key":     {`{"replica":"r","replica":"s"}`, ErrMalformed},
		"deep":              {`{"x":` + strings.Repeat("[", 1000), ErrMalformed},
		"no replica":        {`{"epoch":"1"}`, ErrInvalid},
		"no kind":           {`{"replica":"r","events":[{}]}`, ErrInvalid},
		"kind of later":     {`{"replica":"r","events":[{"kind":99}]}`, ErrInvalid},
		"impossible time":   {"\x0a\x01r\x22\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", ErrInvalid},
		"long replica":      {`{"replica":"` + long + `"}`, ErrTooLarge},
		"too many events":   {"\x0a\x01r" + strings.Repeat("\x2a\x02\x08\x03", MaxEvents+1), ErrTooLarge},
		"empty events":      {"\x0a\x01r\x2a\x00", ErrInvalid},
		"too many in JSON":  {`{"replica":"r","events":[` + strings.Repeat("{},", 2*MaxEvents) + `{}]}`, ErrTooLarge},
		"too many hashes":   {hashes(MaxHashes + 1), ErrTooLarge},
		"too long a one":    {strings.Repeat("x", MaxMessageBytes+1), ErrTooLarge},
		"a group, unclosed": {"\x0a\x01r\x7b", ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := Unmarshal([]byte(c.data))
			if !errors.Is(err, ErrBatch) || !errors.Is(err, c.grain) {
				t.Errorf("got %v, %v; want %v", b, err, c.grain)
			}
		})
	}
}

// hashes returns a message that evicts n blocks.
func hashes(n int) string {
	event := protowire.AppendVarint([]byte{8, 2}, 5<<3|2)
	event = protowire.AppendVarint(event, uint64(8*n))
	event = append(event, make([]byte, 8*n)...)
	return "\x0a\x01r\x2a" + string(protowire.AppendVarint(nil, uint64(len(event)))) + string(event)
}

func TestWhatWouldBeRefusedIsNotSent(t *testing.T) {
	for _, b := range []Batch{
		{},
		{Replica: "r\xff"},
		{Replica: "r", Events: []Event{{Kind: 7}}},
		{Replica: "r", Events: []Event{{Kind: Evicted, Hashes: []uint64{1}, Tier: 3}}},
		{Replica: "r", Events: []Event{{Kind: Evicted, Hashes: []uint64{1}, BlockSize: -1}}},
		{Replica: "r", Events: make([]Event, MaxEvents+1)},
		{Replica: "r", At: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		for form, marshal := range map[string]func(Batch) ([]byte, error){"binary": Marshal, "JSON": MarshalJSON} {
			data, err := marshal(b)
			if err == nil {
				_, err = Unmarshal(data)
				t.Errorf("%s of %.80v was sent; read: %v", form, fmt.Sprint(b), err)
			} else if !errors.Is(err, ErrBatch) {
				t.Errorf("%s: %v", form, err)
			}
		}
	}
}

// Promise 3: a message costs no more than 100 times its size.
func TestHostileMessagesCostLittle(t *testing.T) {
	for name, message := range map[string]string{
		"empty events":      "\x0a\x01r" + strings.Repeat("\x2a\x00", MaxEvents),
		"empty JSON events": `{"replica":"r","events":[` + strings.Repeat("{},", MaxEvents) + `{}]}`,
		"small events":      "\x0a\x01r" + strings.Repeat("\x2a\x02\x08\x03", MaxEvents),
		"loose tokens":      "\x0a\x01r\x2a\x80\x80\x40" + strings.Repeat("\x40\x01", 1<<19),
		"unknown fields":    "\x0a\x01r" + strings.Repeat("\x78\x01", 1<<19),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = Unmarshal([]byte(message))
			runtime.ReadMemStats(&after)
			if cost := (after.TotalAlloc - before.TotalAlloc) / uint64(len(message)); cost > 100 {
				t.Errorf("%d times its size", cost)
			}
		})
	}
}

func FuzzUnmarshal(f *testing.F) {
	binary, _ := Marshal(sample)
	text, _ := MarshalJSON(sample)
	f.Add(binary)
	f.Add(text)
	f.Add([]byte("\x0a\x01r\x2a\x02\x08\x03"))
	f.Add([]byte(`{"replica":"r","events":[{"kind":2,"hashes":[1]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := allocs.Least(func() { _, _ = Unmarshal(data) }); got > 100*uint64(len(data))+64<<10 {
			// also what a gRPC message decodes to
			t.Fatalf("%d bytes made %d", len(data), got)
		}
		b, err := Unmarshal(data)
		if err != nil {
			if !errors.Is(err, ErrBatch) {
				t.Fatalf("untyped: %v", err)
			}
			return
		}
		b.Refused = 0 // not on the wire
		for _, marshal := range []func(Batch) ([]byte, error){Marshal, MarshalJSON} {
			again, err := marshal(b)
			if err != nil {
				t.Fatalf("was read, cannot be sent: %v", err)
			}
			back, err := Unmarshal(again)
			if err != nil || !cmp.Equal(b, back, cmp.Comparer(sameEvent)) {
				t.Fatalf("%v\n%v\n%v", err, b, back)
			}
		}
	})
}

// sameEvent compares events for what they say: an empty list and none are the same.
func sameEvent(a, b Event) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	x = bytes.ReplaceAll(x, []byte("null"), []byte("[]"))
	return bytes.Equal(x, bytes.ReplaceAll(y, []byte("null"), []byte("[]")))
}

func BenchmarkUnmarshal(b *testing.B) {
	batch := Batch{Replica: "debug-0", Epoch: 1, Seq: 1, Events: []Event{
		{Kind: Registered, Root: true, Hashes: make([]uint64, 128), Tokens: make([]uint32, 2048), BlockSize: 16},
	}}
	for i := range batch.Events[0].Tokens {
		batch.Events[0].Tokens[i] = uint32(i * 61 % 150_000)
	}
	data, err := Marshal(batch)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Unmarshal(data); err != nil {
			b.Fatal(err)
		}
	}
}
