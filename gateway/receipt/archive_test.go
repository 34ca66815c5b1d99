package receipt

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"testing"
	"time"

	"octet/classifier"
	"octet/internal/await"
)

// drawer is a Store in memory, whose Append waits while it is held and fails while it is full.
type drawer struct {
	mu   sync.Mutex
	all  map[string][]byte
	full bool
	hold sync.Mutex
}

func (s *drawer) Append(key string, record []byte) error {
	s.hold.Lock()
	defer s.hold.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full {
		return errors.New("no space left on device")
	}
	s.all[key] = append([]byte(nil), record...)
	return nil
}

func (s *drawer) Find(key string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.all[key]; ok {
		return r, nil
	}
	return nil, errors.New("none")
}

func (*drawer) Close() error { return nil }

func putting(rs *Rings, tenant, id string) {
	var d Draft
	d.Begin(id)
	d.Open("q-"+id, "chat", time.Unix(1, 0).UTC(), Asked{Model: "octet"})
	d.Decide(&classifier.Verdict{Specialist: "debug", Confidence: 0.5}, "", "", map[string]float64{"debug": 0.5})
	d.End(Result{Status: 200, Specialist: "debug"})
	rs.Of(tenant).Put(d.Receipt())
}

// What a Ring has forgotten its archive knows, as it was, with verdicts, and whose it is.
func TestAnArchiveKnowsWhatARingForgot(t *testing.T) {
	s := &drawer{all: map[string][]byte{}}
	a := NewArchive(s, 16, slog.New(slog.DiscardHandler))
	rs := NewArchivedRings(4, a)
	putting(rs, "acme", "first")
	r, _ := rs.Find("acme", "first")
	r.Judge(Outcome{Kind: "compile", Pass: true, Time: time.Unix(2, 0).UTC()})
	want, _ := rs.Find("acme", "first")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		putting(rs, "acme", fmt.Sprint(i)) // after Close: nothing is written, and nothing waits
	}
	if _, ok := rs.Find("acme", "first"); ok {
		t.Fatal("the ring has not forgotten")
	}
	tenant, got, ok := rs.Past("first")
	if !ok || tenant != "acme" {
		t.Fatalf("%q, %v", tenant, ok)
	}
	want.verdicts, want.Decision.Intent = nil, ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if n := a.Read(); n.Kept < 1 || n.Failed != 0 {
		t.Errorf("%+v", n)
	}
	if _, _, ok := rs.Past("none"); ok {
		t.Error("a receipt that never was is found")
	}
	if _, _, ok := NewRings(4).Past("first"); ok {
		t.Error("found without an archive")
	}
}

// A store that stands still costs requests nothing: what has no room in the queue is dropped and counted.
func TestAnArchiveThatStandsStillHoldsUpNoRequest(t *testing.T) {
	s := &drawer{all: map[string][]byte{}}
	a := NewArchive(s, 4, slog.New(slog.DiscardHandler))
	rs := NewArchivedRings(100, a)
	s.hold.Lock()
	for i := range 50 {
		putting(rs, "acme", fmt.Sprint(i))
	}
	s.hold.Unlock()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	n := a.Read()
	if n.Kept+n.Dropped != 50 || n.Kept < 4 || n.Kept > 6 {
		t.Errorf("%+v", n)
	}
}

// A full disk is counted, and what comes after it is written again.
func TestAnArchiveGoesOnAfterAFullDisk(t *testing.T) {
	s := &drawer{all: map[string][]byte{}, full: true}
	a := NewArchive(s, 4, slog.New(slog.DiscardHandler))
	rs := NewArchivedRings(100, a)
	putting(rs, "acme", "a")
	await.True(t, "the failure", func() bool { return a.Read().Failed > 0 })
	s.mu.Lock()
	s.full = false
	s.mu.Unlock()
	putting(rs, "acme", "b")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n := a.Read(); n != (Archived{Kept: 1, Failed: 1}) {
		t.Errorf("%+v", n)
	}
}

// What a request pays for an archive: one send on a channel.
func BenchmarkPutArchived(b *testing.B) {
	for name, archived := range map[string]bool{"off": false, "on": true} {
		b.Run(name, func(b *testing.B) {
			var a *Archive
			if archived {
				a = NewArchive(&drawer{all: map[string][]byte{}}, 1024, slog.New(slog.DiscardHandler))
				defer a.Close()
			}
			g, r := NewArchivedRings(1000, a).Of("acme"), new(Receipt)
			r.ID = "one"
			b.ReportAllocs()
			for b.Loop() {
				g.Put(r)
			}
		})
	}
}
