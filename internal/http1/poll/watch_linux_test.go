package poll

import (
	"net"
	"testing"
	"time"
)

// A peer that leaves is reported once, however it leaves; bytes and our own close are not.
func TestEveryPeerThatLeavesIsReportedOnce(t *testing.T) {
	reports := make(chan uint64, 100)
	w, err := NewWatch(func(id uint64) { reports <- id }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const closes, resets, halves, stays, ours = 1 << 40, 2, 3, 4, 5
	for id := uint64(2); id <= closes; id++ {
		if id > ours {
			id = closes
		}
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		raw, _ := near.(*net.TCPConn).SyscallConn()
		if !w.Add(raw, id) {
			t.Fatal("not watched")
		}
		_, _ = far.Write([]byte("bytes"))
		switch id {
		case resets:
			_ = far.(*net.TCPConn).SetLinger(0)
			_ = far.Close()
		case halves:
			_ = far.(*net.TCPConn).CloseWrite()
		case ours:
			_ = near.Close()
		case closes:
			_ = far.Close()
		}
	}
	got := map[uint64]int{}
	for len(got) < 3 {
		select {
		case id := <-reports:
			got[id]++
		case <-time.After(5 * time.Second):
			t.Fatalf("reported are %v", got)
		}
	}
	time.Sleep(20 * time.Millisecond) // real time: a report that must not come
	if got[closes] != 1 || got[resets] != 1 || got[halves] != 1 || len(reports) > 0 {
		t.Errorf("reported are %v, and %d more", got, len(reports))
	}
}
