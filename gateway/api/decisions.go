package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"octet/gateway/apierr"
	"octet/gateway/live"
)

// Decisions answers /admin/decisions: server-sent events, a line of data for each decision that is shown, and once a
// second an event named tally, which also says that the gateway is there.
type Decisions struct {
	Refuse Refuse
	Live   *live.Decisions
}

// Tally is what the event of that name says.
type Tally struct {
	Seen      uint64 `json:"seen"`       // decisions that the filter has let pass since the stream began
	Shown     uint64 `json:"shown"`      // of them
	PerSecond int    `json:"per_second"` // the most that are shown
}

// readerTimeout is how long a reader may take nothing before its stream is cut.
const readerTimeout = 15 * time.Second

// Handle streams decisions until the client leaves. The parameters specialist, tenant and outcome choose.
func (h Decisions) Handle(c *gin.Context) {
	w, ok := h.Live.Watch(live.Filter{Specialist: c.Query("specialist"), Tenant: c.Query("tenant"),
		Outcome: c.Query("outcome")})
	if !ok {
		h.Refuse(c, apierr.New(apierr.Overloaded, "", "as many read the decisions as admin.decisions.readers lets"))
		return
	}
	defer w.Close()
	c.Header("Content-Type", "text/event-stream; charset=utf-8")
	c.Header("Cache-Control", "no-store")
	c.Header("X-Accel-Buffering", "no")
	c.Status(http.StatusOK)
	out := sender{c: c, deadlines: http.NewResponseController(c.Writer)}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for out.tally(h.Live.PerSecond(), w) {
		for again := true; again; {
			select {
			case <-c.Request.Context().Done():
				return
			case line := <-w.Lines():
				if !out.lines(line, w.Lines()) {
					return
				}
			case <-second.C:
				again = false
			}
		}
	}
}

// sender writes the events of one stream.
type sender struct {
	c         *gin.Context
	deadlines *http.ResponseController
	shown     uint64
	text      bytes.Buffer
}

// lines sends a line and those that are there already, and returns false if the reader is gone.
func (s *sender) lines(line []byte, more <-chan []byte) bool {
	for {
		s.shown++
		s.text.WriteString("data: ")
		s.text.Write(line)
		s.text.WriteString("\n\n")
		select {
		case line = <-more:
		default:
			return s.send()
		}
	}
}

// tally sends the counts so far, and returns false if the reader is gone.
func (s *sender) tally(most int, w *live.Watcher) bool {
	text, err := json.Marshal(Tally{Seen: w.Seen(), Shown: s.shown, PerSecond: most})
	if err != nil {
		return false
	}
	s.text.WriteString("event: tally\ndata: ")
	s.text.Write(text)
	s.text.WriteString("\n\n")
	return s.send()
}

func (s *sender) send() bool {
	_ = s.deadlines.SetWriteDeadline(time.Now().Add(readerTimeout)) // not every transport has deadlines
	_, err := s.c.Writer.Write(s.text.Bytes())
	s.text.Reset()
	if err == nil {
		err = s.deadlines.Flush()
	}
	return err == nil
}
