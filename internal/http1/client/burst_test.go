package client

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// A second answer on the same connection shows that the larger buffer was given back.
func TestAnEngineThatRunsAheadIsReadInLargerPieces(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 2560)
	sent := make(chan struct{}, 2)
	url, conns := countedEngine(t, func(p *peer, _ int) {
		for p.request() != nil {
			p.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
			sent <- struct{}{}
		}
	})
	cl := dialUp(t, Config{URL: url})
	for range 2 {
		resp, err := cl.Do(context.Background(), post("{}"))
		if err != nil {
			t.Fatal(err)
		}
		<-sent
		first, largest, body := 0, 0, ""
		for len(body) < len(text) {
			piece, err := resp.next()
			if err != nil {
				t.Fatal(err)
			}
			if first == 0 {
				first = len(piece)
			}
			largest = max(largest, len(piece))
			body += string(piece)
		}
		if cn := resp.conn; cn.burst == nil {
			t.Error("no larger buffer was taken")
		}
		if err := resp.Close(); err != nil || body != text || first > bufferSize || largest <= bufferSize ||
			largest > burstSize {
			t.Errorf("the same: %v, first %d bytes, largest %d: %v", body == text, first, largest, err)
		}
		if cn := cl.bottom(); cn == nil || cn.burst != nil || cn.buf != nil {
			t.Error("an idle connection holds a buffer")
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
