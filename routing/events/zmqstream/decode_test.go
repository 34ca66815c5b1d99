package zmqstream

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tinylib/msgp/msgp"

	"octet/routing/events"
	"octet/routing/index"
)

// pack writes a value as msgpack: the vocabulary of the tests.
func pack(v any) []byte {
	b, err := msgp.AppendIntf(nil, v)
	if err != nil {
		panic(err)
	}
	return b
}

type (
	list = []any
	dict = map[string]any
)

func batch(all ...any) []byte { return pack(list{1755000000.25, all, 0}) }

func ids(from, n uint32) (all []uint32) {
	for i := range n {
		all = append(all, from+i)
	}
	return all
}

func raws(from, n uint32) (all list) {
	for _, t := range ids(from, n) {
		all = append(all, t)
	}
	return all
}

// A layout that has no field for a salt does not say that there is none: with tenants that have one, what it tells
// could be any's.
func TestOnlyLayoutsWithAFieldForASaltSayThatThereIsNone(t *testing.T) {
	base := list{"BlockStored", list{11, 12}, nil, raws(1, 8), 4, nil}
	for name, row := range map[string]struct {
		event    any
		saltless bool
	}{
		"vLLM 0.10":      {base, true},
		"with a medium":  {append(base[:6:6], "GPU"), true},
		"with a name":    {append(base[:6:6], "GPU", nil), true},
		"SGLang, salted": {append(base[:6:6], "GPU", dict{"cache_salt": "s4lt"}), false},
		"extra keys":     {append(base[:6:6], "GPU", nil, nil), false},
		"what follows":   {list{"BlockStored", list{11, 12}, 9, raws(1, 8), 4, nil}, false},
		"a map": {dict{"type": "BlockStored", "block_hashes": list{11}, "token_ids": raws(1, 4),
			"block_size": 4}, false},
	} {
		var d decoder
		_, got, err := d.decode(batch(row.event))
		if err != nil || len(got) != 1 || got[0].Saltless != row.saltless {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Every layout that vLLM, SGLang, TensorRT-LLM and the simulators have had says the same.
func TestEveryLayoutOfAnEngineIsRead(t *testing.T) {
	digest := slices.Concat(make([]byte, 24), []byte{0, 0, 0, 0, 0, 0, 0, 11})
	plain := events.Event{Kind: events.Registered, Hashes: []uint64{11, 12}, Root: true, Tokens: ids(1, 8),
		BlockSize: 4}
	with := func(change func(*events.Event)) []events.Event {
		e := plain
		change(&e)
		return []events.Event{e}
	}
	base := list{"BlockStored", list{11, 12}, nil, raws(1, 8), 4, nil}
	long := func(more ...any) list { return append(slices.Clone(base), more...) }
	mapped := func(more dict) dict {
		d := dict{"type": "BlockStored", "block_hashes": list{11, 12}, "parent_block_hash": nil,
			"token_ids": raws(1, 8), "block_size": 4,
			"lora_id": nil, "medium": "GPU", "lora_name": nil}
		for k, v := range more {
			d[k] = v
		}
		return d
	}
	opaque := func(size int) []events.Event {
		return []events.Event{{Kind: events.Registered, Hashes: []uint64{11, 12}, Root: true, BlockSize: size}}
	}
	for name, row := range map[string]struct {
		event any
		want  []events.Event
	}{
		"vLLM 0.10, six elements": {base, []events.Event{plain}},
		"seven, with a medium":    {long("CPU"), with(func(e *events.Event) { e.Tier = index.CPU })},
		"eight, with an adapter":  {long("GPU", "gdb"), with(func(e *events.Event) { e.Adapter = "gdb" })},
		"nine, with extra keys": {long("GPU", "gdb", list{list{"gdb", "acme"}, list{"gdb"}}),
			with(func(e *events.Event) { e.Adapter, e.Salt = "gdb", "acme" })},
		"ten, with a group": {long("GPU", nil, nil, 0), []events.Event{plain}},
		"twelve":            {long("GPU", nil, nil, 0, "full_attention", nil), []events.Event{plain}},
		"fifteen, of the future": {long("GPU", nil, nil, 0, "full_attention", nil, "x", list{1}, dict{"a": list{}}),
			[]events.Event{plain}},
		"a sliding window": {long("GPU", nil, nil, 1, "sliding_window", 128), nil},
		"SGLang, salted": {long("GPU", dict{"cache_salt": "s4lt"}),
			with(func(e *events.Event) { e.Salt = "s4lt" })},
		"SGLang, signed hashes": {list{"BlockStored", list{-1, 12}, -5, raws(1, 8), 4, nil, "CPU_PINNED"},
			with(func(e *events.Event) {
				e.Hashes, e.Root, e.Parent, e.Tier = []uint64{1<<64 - 1, 12}, false, 1<<64-5, index.CPU
			})},
		"SGLang, pairs of tokens": {list{"BlockStored", list{11, 12}, nil, list{list{1, 2}, list{2, 3}}, 1, nil},
			opaque(1)},
		"TensorRT, words as tokens": {list{"BlockStored", list{11, 12}, nil, list{1, "pic", 3, 4}, 2, nil},
			opaque(2)},
		"a number for an adapter": {list{"BlockStored", list{11, 12}, nil, raws(1, 8), 4, 3},
			with(func(e *events.Event) { e.Adapter = "lora_id=3" })},
		"the simulator's root": {list{"BlockStored", list{11, 12}, 0, raws(1, 8), 4, nil},
			[]events.Event{plain}},
		"digests": {list{"BlockStored", list{digest, 12}, digest, raws(1, 8), 4, nil},
			with(func(e *events.Event) { e.Root, e.Parent = false, 11 })},
		"an offload tier": {list{"BlockStored", list{11, 12}, nil, list{}, 4, nil, "STORAGE"},
			[]events.Event{{Kind: events.Registered, Tier: index.SSD, Hashes: []uint64{11, 12}, BlockSize: 4}}},
		"no tokens, a parent": {list{"BlockStored", list{11, 12}, 9, list{}, 4, nil, "GPU"},
			[]events.Event{{Kind: events.Registered, Hashes: []uint64{11, 12}, Parent: 9, BlockSize: 4}}},
		"no tokens, no size": {list{"BlockStored", list{11}, nil, list{}, 1 << 40, nil, "GPU"},
			[]events.Event{{Kind: events.Registered, Hashes: []uint64{11}, Root: true}}},
		"a map": {mapped(nil), []events.Event{plain}},
		"a map with more": {mapped(dict{"lora_id": 1, "lora_name": "gdb",
			"extra_keys": list{list{"gdb"}, list{"gdb"}}, "locality": "LOCAL"}),
			with(func(e *events.Event) { e.Adapter = "gdb" })},
		"SGLang's map": {mapped(dict{"cache_salt": "s4lt", "session_id": "x"}),
			with(func(e *events.Event) { e.Salt = "s4lt" })},
		"a removal": {list{"BlockRemoved", list{11}},
			[]events.Event{{Kind: events.Evicted, Hashes: []uint64{11}}}},
		"a removal from disk": {list{"BlockRemoved", list{11}, "DISK", 0},
			[]events.Event{{Kind: events.Evicted, Tier: index.SSD, Hashes: []uint64{11}}}},
		"a removal as a map": {dict{"type": "BlockRemoved", "block_hashes": list{11}, "medium": "GPU"},
			[]events.Event{{Kind: events.Evicted, Hashes: []uint64{11}}}},
		"all cleared":                {list{"AllBlocksCleared"}, []events.Event{{Kind: events.Cleared}}},
		"all cleared, as a map":      {dict{"type": "AllBlocksCleared"}, []events.Event{{Kind: events.Cleared}}},
		"an event of the future":     {dict{"type": "BlockMoved", "to": list{1, dict{"x": 2}}}, nil},
		"one of the future as array": {list{"BlockMoved", list{1}, 2}, nil},
		"tokens that do not add up":  {list{"BlockStored", list{11, 12}, nil, raws(1, 7), 4, nil}, opaque(4)},
		"nothing stored":             {list{"BlockStored", list{}, nil, list{}, 4, nil}, nil},
		"a picture in the second one": {long("GPU", nil, list{nil, list{list{"pic", 0}}}),
			[]events.Event{{Kind: events.Registered, Hashes: []uint64{11}, Root: true, Tokens: ids(1, 4), BlockSize: 4},
				{Kind: events.Registered, Hashes: []uint64{12}, Parent: 11, BlockSize: 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			var d decoder
			at, got, err := d.decode(batch(row.event))
			if err != nil {
				t.Fatal(err)
			}
			if !at.Equal(time.Unix(1755000000, 250_000_000)) {
				t.Errorf("made at %v", at)
			}
			if diff := cmp.Diff(row.want, got, cmpopts.IgnoreFields(events.Event{}, "Saltless")); diff != "" {
				t.Error(diff)
			}
			for i := range got {
				b := events.Batch{Replica: "r", Events: got[i : i+1]}
				if err := b.Check(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestRemovalsFromAGroupThatIsNoPrefixAreNotCounted(t *testing.T) {
	var d decoder
	_, got, err := d.decode(batch(
		list{"BlockStored", list{11}, nil, raws(1, 4), 4, nil, "GPU", nil, nil, 0, "full_attention", nil},
		list{"BlockStored", list{11}, nil, raws(1, 4), 4, nil, "GPU", nil, nil, 1, "mamba", nil},
		list{"BlockRemoved", list{11}, "GPU", 1},
	))
	if err != nil || len(got) != 1 || got[0].Kind != events.Registered {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestWhatIsNoBatchIsRefused(t *testing.T) {
	deep := make([]byte, 1000)
	for i := range deep {
		deep[i] = 0x91 // an array of one
	}
	for name, payload := range map[string][]byte{
		"nothing": {}, "a number": pack(7), "half": batch(list{"AllBlocksCleared"})[:12], "more": append(batch(), 0),
		"a huge array": {0xdd, 0xff, 0xff, 0xff, 0xff},
		"huge events":  slices.Concat([]byte{0x93}, pack(1.0), []byte{0xdd, 0xff, 0xff, 0xff, 0xff}),
		"a huge hash list": slices.Concat([]byte{0x93}, pack(1.0), []byte{0x91, 0x92}, pack("BlockRemoved"),
			[]byte{0xdd, 0xff, 0xff, 0xff, 0xff}),
		"a huge map":        slices.Concat([]byte{0x93}, pack(1.0), []byte{0x91, 0xdf, 0xff, 0xff, 0xff, 0xff}),
		"a short digest":    batch(list{"BlockRemoved", list{[]byte{1, 2}}}),
		"deep nesting":      slices.Concat([]byte{0x93}, pack(1.0), []byte{0x91, 0x92}, pack("BlockMoved"), deep),
		"a time that never": pack(list{-1.0, list{}, 0}), "words for hashes": batch(list{"BlockRemoved", list{"x"}}),
	} {
		var d decoder
		if _, got, err := d.decode(payload); !errors.Is(err, ErrPayload) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// What our publisher writes is what our consumer reads, in both layouts.
func TestWhatIsWrittenIsRead(t *testing.T) {
	want := []events.Event{
		{Kind: events.Registered, Hashes: []uint64{1 << 63, 12}, Root: true, Tokens: ids(1, 8), BlockSize: 4,
			Adapter: "gdb", Salt: "acme"},
		{Kind: events.Registered, Hashes: []uint64{13}, Parent: 12, Tokens: ids(70000, 4), BlockSize: 4,
			Adapter: "gdb"},
		{Kind: events.Registered, Hashes: []uint64{14}, Root: true, Tokens: ids(9, 4), BlockSize: 4, Salt: "acme"},
		{Kind: events.Evicted, Hashes: []uint64{12}, Tier: index.CPU},
		{Kind: events.Cleared},
	}
	for _, layout := range []Layout{Maps, Arrays} {
		e := encoder{layout: layout}
		var d decoder
		_, got, err := d.decode(e.encode(events.Batch{At: time.Unix(5, 0),
			Events: append(slices.Clone(want), events.Event{Kind: events.Shutdown})}))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", layout, err, diff)
		}
	}
}

// The recorded frames of unmodified publishers are read, and say what was decoded beside them.
func TestRecordedFramesAreRead(t *testing.T) {
	dir := os.Getenv("OCTET_SHARED")
	if dir == "" {
		t.Skip("OCTET_SHARED does not say where the recordings are")
	}
	files, err := filepath.Glob(filepath.Join(dir, "data/wire/*.live.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var d decoder
			for lines := bufio.NewScanner(f); lines.Scan(); {
				var line struct {
					Seq     uint64
					Payload string `json:"payload_hex"`
					Decoded []any
				}
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					t.Fatal(err)
				}
				payload, _ := hex.DecodeString(line.Payload)
				_, got, err := d.decode(payload)
				if err != nil {
					t.Fatalf("batch %d: %v", line.Seq, err)
				}
				compareKinds(t, line.Seq, got, line.Decoded[1].([]any))
			}
		})
	}
}

func compareKinds(t *testing.T, seq uint64, got []events.Event, want []any) {
	t.Helper()
	var told, said []string
	for _, e := range got {
		if n := len(told); e.Kind == events.Registered && len(e.Tokens) == 0 && n > 0 && told[n-1] == "BlockStored" {
			continue // the untold rest of one event
		}
		told = append(told, map[events.Kind]string{events.Registered: "BlockStored", events.Evicted: "BlockRemoved",
			events.Cleared: "AllBlocksCleared"}[e.Kind])
	}
	for _, w := range want {
		switch w := w.(type) {
		case []any:
			said = append(said, w[0].(string))
		case map[string]any:
			if kind, _ := w["kv_cache_spec_kind"].(string); !isSparse(kind) {
				said = append(said, w["type"].(string))
			}
		}
	}
	if !slices.Equal(told, said) {
		t.Errorf("batch %d: %s, want %s", seq, strings.Join(told, " "), strings.Join(said, " "))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(batch(list{"BlockStored", list{11, 12}, nil, raws(1, 8), 4, nil, "GPU", "gdb", list{list{"gdb", "acme"}, nil},
		0, "full_attention", nil}))
	f.Add(batch(dict{"type": "BlockStored", "block_hashes": list{11}, "parent_block_hash": 3, "token_ids": raws(1, 4),
		"block_size": 4, "medium": "CPU"}))
	f.Add(batch(list{"BlockRemoved", list{-11}, "DISK", 0}, list{"AllBlocksCleared"}))
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, payload []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d decoder
		_, got, err := d.decode(payload)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10+uint64(len(payload))*400 {
			t.Fatalf("%d bytes took %d of memory", len(payload), took)
		}
		if err != nil {
			return
		}
		for i := range got {
			e := got[i]
			if e.Kind == events.Registered && len(e.Tokens) > 0 && len(e.Tokens) != e.BlockSize*len(e.Hashes) {
				t.Fatalf("%+v", e)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	e := events.Event{Kind: events.Registered, Root: true, BlockSize: 16}
	for i := range 64 {
		e.Hashes = append(e.Hashes, uint64(i)*0x9E3779B97F4A7C15)
		e.Tokens = append(e.Tokens, ids(uint32(i*1000), 16)...)
	}
	for _, layout := range []Layout{Maps, Arrays} {
		enc := encoder{layout: layout}
		payload := enc.encode(events.Batch{At: time.Unix(5, 0), Events: []events.Event{e}})
		b.Run(string(layout), func(b *testing.B) {
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				var d decoder
				if _, _, err := d.decode(payload); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
