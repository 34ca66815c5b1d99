package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"

	"octet/calibration"
	"octet/internal/natsserver"
	"octet/internal/redistest"
)

func tally(intent string) calibration.Record {
	return calibration.Record{V: calibration.Version, Tally: &calibration.Tally{Intent: intent}}
}

// wholeLines reads the records of a file; anything that is none fails.
func wholeLines(t *testing.T, path string) (intents []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		r, err := calibration.Parse(line)
		if err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%v: %q", err, line)
		}
		intents = append(intents, r.Tally.Intent)
	}
	return intents
}

// MEGA-14: the file is turned over when it is full, so many earlier ones are kept, and each holds whole lines.
func TestAFileIsTurnedOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	f, err := NewFile(FileConfig{Path: path, Bytes: 1000, Keep: 2})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(Bounds{}, f)
	for i := range 16 {
		s.Offer(tally(fmt.Sprint(i)))
	}
	if err := s.Close(); err != nil || s.Offer(tally("late")) {
		t.Error("a closed stream takes records", err)
	}
	last := wholeLines(t, path)
	if all := slices.Concat(wholeLines(t, path+".2"), wholeLines(t, path+".1"), last); all[len(all)-1] != "15" ||
		all[0] == "0" {
		t.Errorf("%v", all)
	}
	if _, err := os.Stat(path + ".3"); !errors.Is(err, os.ErrNotExist) {
		t.Error("more is kept than wanted", err)
	}
	if c := s.Counts()["file"]; c != (Counts{Written: 16}) {
		t.Errorf("%+v", c)
	}
}

// A full disk drops and counts; what comes when there is room again is written.
func TestAFullDiskDropsAndCounts(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("SKIP-DEV-FULL: there is no /dev/full")
	}
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(FileConfig{Path: path, Bytes: 1 << 20, Keep: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(Bounds{}, f)
	for range 5 {
		s.Offer(tally("lost"))
	}
	for deadline := time.Now().Add(5 * time.Second); s.Counts()["file"].Failed < 5 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if c := s.Counts()["file"]; c != (Counts{Failed: 5}) {
		t.Errorf("%+v", c)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A line that an earlier process left unfinished costs no other.
func TestAnUnfinishedLineIsEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte(`{"v":1,"tal`), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := NewFile(FileConfig{Path: path, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Write(t.Context(), []byte("whole")), f.Close()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "{\"v\":1,\"tal\nwhole\n" {
		t.Errorf("%q", text)
	}
}

func TestAPathThatCannotBeOpenedIsKnownAtTheStart(t *testing.T) {
	for _, c := range []FileConfig{{Path: t.TempDir(), Bytes: 1},
		{Path: filepath.Join(t.TempDir(), "no", "file"), Bytes: 1}, {Bytes: 1}, {Path: "x"}} {
		if f, err := NewFile(c); err == nil {
			t.Errorf("%+v was opened: %v", c, f.Close())
		}
	}
}

// stuck is a sink that takes until its context ends.
type stuck struct{ closed bool }

func (*stuck) Name() string { return "stuck" }
func (*stuck) Write(ctx context.Context, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}
func (s *stuck) Close() error { s.closed = true; return nil }

// Offer never waits, for a sink that hangs either: its queue fills, the rest is dropped and counted, others go on.
func TestASinkThatHangsBlocksNobody(t *testing.T) {
	for name, bounds := range map[string]Bounds{"by default": {},
		"as bounded": {Queue: 3, WriteTimeout: time.Hour, CloseTimeout: time.Minute}} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { hang(t, bounds) }) })
	}
}

func hang(t *testing.T, b Bounds) {
	path := filepath.Join(t.TempDir(), "c.jsonl")
	f, err := NewFile(FileConfig{Path: path, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	sink := &stuck{}
	s := Open(b, sink, f)
	b = b.withDefaults()
	offered := uint64(b.Queue + 10)
	began := time.Now()
	for range offered {
		s.Offer(tally("x"))
		synctest.Wait()
	}
	if c := s.Counts(); time.Since(began) != 0 || c["stuck"].Full != 9 || c["file"].Written != offered {
		t.Errorf("after %v: %+v", time.Since(began), c)
	}
	if err := s.Close(); err != nil || time.Since(began) != b.CloseTimeout || !sink.closed {
		t.Errorf("closing took %v: %v", time.Since(began), err)
	}
	if c := s.Counts()["stuck"]; c.Failed+c.Full != offered {
		t.Errorf("%+v", c)
	}
}

// MEGA-14: records come back from a Redis stream as they went in; what comes while the server is down is dropped and
// counted.
func TestARedisStreamKeepsRecords(t *testing.T) {
	srv := redistest.Start(t)
	r := NewRedis(redis.NewClient(&redis.Options{Addr: srv.Addr, PoolSize: 1, MaxRetries: -1}), "octet:shadow", 10000)
	s := Open(Bounds{}, r)
	for i := range page + 100 {
		for !s.Offer(tally(fmt.Sprint(i))) {
			time.Sleep(time.Millisecond)
		}
	}
	waitFor(t, s, func(c Counts) bool { return c.Written == page+100 })
	n := 0
	for line, err := range r.Lines(t.Context()) {
		if err != nil || !strings.Contains(string(line), fmt.Sprintf(`"intent":"%d"`, n)) {
			t.Fatalf("%v: record %d is %s", err, n, line)
		}
		n++
	}
	if n != page+100 {
		t.Errorf("%d records", n)
	}
	srv.Kill()
	s.Offer(tally("lost"))
	waitFor(t, s, func(c Counts) bool { return c.Failed == 1 })
	srv.Restart(true)
	waitFor(t, s, func(c Counts) bool { // the first may find the old connection dead
		s.Offer(tally("back"))
		return c.Written > page+100
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, s *Stream, ok func(Counts) bool) {
	t.Helper()
	name := s.lanes[0].sink.Name()
	for deadline := time.Now().Add(10 * time.Second); !ok(s.Counts()[name]); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", s.Counts())
		}
	}
}

// MEGA-14
func TestANATSSubjectCarriesRecords(t *testing.T) {
	srv := natsserver.RunWith(t, server.Options{})
	conn, err := nats.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sub, err := conn.SubscribeSync("octet:shadow")
	if err := errors.Join(err, conn.Flush()); err != nil {
		t.Fatal(err)
	}
	n, err := NewNATS(NATSConfig{URL: srv.ClientURL(), Subject: "octet:shadow"})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(Bounds{}, n)
	s.Offer(tally("x"))
	m, err := sub.NextMsg(5 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := calibration.Parse(m.Data); err != nil || r.Tally.Intent != "x" {
		t.Errorf("%v: %s", err, m.Data)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A server that is not there costs a record each, and the start nothing.
func TestANATSServerThatIsAwayDropsAndCounts(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	nobody := l.Addr().String()
	l.Close()
	n, err := NewNATS(NATSConfig{URL: "nats://" + nobody, Subject: "s"})
	if err != nil {
		t.Fatal(err)
	}
	s := Open(Bounds{}, n)
	s.Offer(tally("x"))
	waitFor(t, s, func(c Counts) bool { return c.Failed == 1 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
