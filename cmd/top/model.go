package top

import (
	"time"

	"octet/gateway/live"
)

// The smallest terminal that a frame fits into.
const (
	LeastWidth  = 60
	LeastHeight = 12
)

// view is what the middle of a frame shows.
type view int

const (
	specialists view = iota
	replicas
	requests
	decisions
	loaded
	views
)

func (v view) String() string {
	return [...]string{"specialists", "replicas", "requests", "decisions", "adapters"}[v]
}

// mostDecisions are kept to be shown.
const mostDecisions = 200

// Model is all that a frame is made of. It is a value: Update returns the next one.
type Model struct {
	URL           string
	Width, Height int
	Now           time.Time

	reading  *Reading  // nil before the first
	failure  string    // why the last poll failed; "" if it did not
	away     time.Time // since when polls fail
	note     string    // what was done, for the line above the keys
	noted    time.Time
	shows    view
	list     [views]listing
	live     []live.Event // the newest first
	watching string       // why decisions are not told; "" if they are
	filter   string
	line     *prompt // nil if no text is asked for
	drain    *drain  // nil if no drain is asked about
	page     *page   // nil unless a text covers the view
}

// listing is how a view's rows are shown.
type listing struct {
	key     string // of the row that is chosen; "" is the first
	at      int    // where it was: if it goes, its neighbour is chosen
	sort    int    // column, from 1 on; 0 is the gateway's order
	reverse bool
}

// prompt is a text that is being typed.
type prompt struct {
	of   string // filter or receipt
	text string
}

// drain is a question: the replica, and whether it is to drain or to end that.
type drain struct {
	replica string
	on      bool
}

// page is a text that covers the view: a receipt, or the keys.
type page struct {
	title string
	lines []string
	from  int // the first line that is shown
}

// Messages that Update takes.
type (
	// Resized says how large the terminal is.
	Resized struct{ Width, Height int }
	// Ticked says that time has passed.
	Ticked struct{ Now time.Time }
	// Polled is the end of a poll.
	Polled struct {
		Reading *Reading // nil if it failed
		Failure string
		Now     time.Time
	}
	// Pressed is a key by its name, or one character.
	Pressed struct{ Key string }
	// Done says what became of a drain.
	Done struct{ Note string }
	// Fetched is a receipt, or why there is none.
	Fetched struct {
		ID      string
		Lines   []string
		Failure string
	}
	// Decided is a decision that has ended.
	Decided struct{ Event live.Event }
	// Unwatched says why decisions are told no more.
	Unwatched struct{ Why string }
)

// Effects that Update asks for.
type (
	// PollAfter asks for a Reading after a time.
	PollAfter struct{ Pause time.Duration }
	// Drain begins to drain a replica, or ends it.
	Drain struct {
		Replica string
		On      bool
	}
	// Fetch asks for a receipt.
	Fetch struct{ ID string }
	// Watch asks for decisions, or for none any more.
	Watch struct{ On bool }
	// Quit ends the program.
	Quit struct{}
)

// Update returns the model after a message, and what is to be done.
func (m Model) Update(message any) (Model, []any) {
	switch msg := message.(type) {
	case Resized:
		m.Width, m.Height = msg.Width, msg.Height
	case Ticked:
		m.Now = msg.Now
	case Polled:
		return m.polled(&msg)
	case Done:
		m.say(msg.Note)
	case Fetched:
		if msg.Failure != "" {
			m.say(msg.Failure)
			return m, nil
		}
		m.page = &page{title: "receipt " + clean(msg.ID), lines: msg.Lines}
	case Decided:
		m.live = append([]live.Event{msg.Event}, m.live[:min(len(m.live), mostDecisions-1)]...)
		m.watching = ""
	case Unwatched:
		m.watching = clean(msg.Why)
	case Pressed:
		return m.pressed(msg.Key)
	}
	return m, nil
}

func (m *Model) say(note string) { m.note, m.noted = clean(note), m.Now }

// polled takes a Reading, or notes that the gateway is away.
func (m Model) polled(msg *Polled) (Model, []any) {
	m.Now = msg.Now
	if msg.Reading == nil {
		if m.failure == "" {
			m.away = msg.Now
		}
		m.failure = clean(msg.Failure)
		return m, []any{PollAfter{time.Second}}
	}
	was := m.reading
	m.reading = msg.Reading
	switch {
	case was != nil && !was.State.Started.Equal(m.reading.State.Started):
		m.say("the gateway has restarted; connected again")
		m.live = nil // of another process
	case m.failure != "":
		m.say("connected again after " + lasting(msg.Now.Sub(m.away)))
	}
	effects := []any{PollAfter{pause(m.reading.Took)}}
	if m.watching != "" && m.shows == decisions {
		effects = append(effects, Watch{true}) // once more
	}
	m.failure = ""
	return m, effects
}
