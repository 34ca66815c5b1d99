package peers

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"octet/routing/peers/peerspb"
)

// drawWork is what may be at a replica.
func drawWork(rt *rapid.T) Work {
	small := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 300), rapid.Just(math.MaxInt32))
	large := rapid.OneOf(small, rapid.IntRange(0, most))
	w := Work{Running: small.Draw(rt, "running"), Waiting: small.Draw(rt, "waiting"),
		Backlog: large.Draw(rt, "backlog"), Tokens: large.Draw(rt, "tokens"), Blocks: small.Draw(rt, "blocks"),
		Answer: time.Duration(small.Draw(rt, "answer")) * time.Millisecond}
	w.Left = rapid.IntRange(0, w.Backlog).Draw(rt, "left")
	if w.Waiting > 0 {
		w.Urgent, w.Had = rapid.IntRange(-100, 100).Draw(rt, "urgent"), large.Draw(rt, "had")
		w.Tenant = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(rt, "tenant")
	}
	return w
}

// What is written of a replica here is what the messages' definition says, read as it was written.
func TestWorkIsReadAsItWasTold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var text []byte
		var want []told
		for range rapid.IntRange(0, 5).Draw(rt, "replicas") {
			one := told{rapid.Uint64().Draw(rt, "replica"), drawWork(rt)}
			want, text = append(want, one), appendWork(text, one.replica, one.work)
		}
		m := new(peerspb.Message)
		if err := proto.Unmarshal(text, m); err != nil || len(m.GetWork()) != len(want) {
			rt.Fatalf("%v: %d of %d", err, len(m.GetWork()), len(want))
		}
		for i, w := range m.GetWork() {
			if (told{w.GetReplica(), fromWire(w)}) != want[i] || len(w.ProtoReflect().GetUnknown()) > 0 {
				rt.Errorf("%+v is told as %v", want[i], w)
			}
		}
		if _, got, err := read(text, nil); err != nil || !slices.Equal(got, want) {
			rt.Errorf("%v: %+v is read as %+v", err, want, got)
		}
	})
}

// Whatever comes, read finds in it what the library finds.
func FuzzMessagesAreReadAsTheLibraryReadsThem(f *testing.F) {
	whole, err := proto.Marshal(recorded())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(append(bytes.Clone(whole), whole...))
	f.Add([]byte("\x42\x02\x08\x01")) // a replica that is a varint
	// A count twice, of another kind, and beyond 32 bits.
	f.Add([]byte("\x42\x0b\x10\x01\x12\x01a\x10\x80\x80\x80\x80\x10\x7b"))
	f.Add([]byte("\x43\x10\x01\x44")) // a group where a replica is to be
	f.Fuzz(func(t *testing.T, text []byte) {
		m := new(peerspb.Message)
		want := proto.Unmarshal(text, m)
		got, list, err := read(text, nil)
		if len(m.GetWork()) > MaxReplicas {
			return
		}
		if (err != nil) != (want != nil) {
			t.Fatalf("the error is %v, the library's %v", err, want)
		}
		if err != nil {
			return
		}
		for i, w := range m.GetWork() {
			if len(list) != len(m.GetWork()) || list[i] != (told{w.GetReplica(), fromWire(w)}) {
				t.Fatalf("%v are read as %+v", m.GetWork(), list)
			}
		}
		if m.Work = nil; !proto.Equal(got, m) {
			t.Errorf("%v is read as %v", m, got)
		}
	})
}
