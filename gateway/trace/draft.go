package trace

import "time"

// Draft is the trace of a request that runs. A nil Draft does nothing. All times are since the request's arrival. Its
// methods are called in the order in which things happen.
type Draft struct {
	Context // of the request's own span
	tracer  *Tracer
	parent  ID       // the client's span; zero if there is none
	beside  *Context // of the shadow's first span, and of a shadow's request; nil if there is none

	marks []mark
	room  [usualMarks]mark // memory of marks
	from  time.Duration    // since when an engine could be asked in this turn
	head  time.Duration    // when the answer's head was sent; zero is never
	turn  int32            // the number of the turn at a replica; below 0 is none
	asked int32            // the mark of the engine that answers, and 1; zero is none

	native bool // see Began
}

// usualMarks is how many marks most requests leave: classify, route, queue, engine.
const usualMarks = 4

// mark is a stretch of the request's time.
type mark struct {
	start, end time.Duration
	span       ID    // of engines: known before the span is made
	turn       int32 // at a replica; below 0 is none
	stage      stage
	failed     bool // it ended the stage
	again      bool // of engines: another question followed in the same turn
}

// stage is what a request does for a while.
type stage uint8

const (
	classify stage = iota
	route
	queue
	hold
	engine
)

var stageNames = [...]string{classify: "classify", route: "route", queue: "queue", hold: "queue", engine: "engine"}

func (d *Draft) sample(yes bool) {
	d.Flags &^= sampledFlag
	if yes {
		d.Flags |= sampledFlag
	}
}

// Explain has the request sampled.
func (d *Draft) Explain() {
	if d != nil {
		d.sample(true)
	}
}

// Classified notes the choice of a specialist.
func (d *Draft) Classified(began, ended time.Duration, err error) {
	d.note(classify, began, ended, err)
}

// Routed notes a pass through a pipeline.
func (d *Draft) Routed(began, ended time.Duration, err error) { d.note(route, began, ended, err) }

// Held notes a time in which the request waited for a replica that serves.
func (d *Draft) Held(began, ended time.Duration, err error) { d.note(hold, began, ended, err) }

func (d *Draft) note(s stage, began, ended time.Duration, err error) {
	if d == nil {
		return
	}
	turn := int32(-1)
	if s == queue {
		turn = d.turn
	}
	d.marks = append(d.marks, mark{start: began, end: ended, stage: s, turn: turn, failed: err != nil})
}

// Turn notes the beginning of a replica's turn: the next attempt of the receipt.
func (d *Draft) Turn(began time.Duration) {
	if d != nil {
		d.turn++
		d.from = began
	}
}

// Queued notes that the replica whose turn it is was asked for a place, and what was said. A question to its engine
// before that is over.
func (d *Draft) Queued(began, ended time.Duration, err error) {
	if d == nil {
		return
	}
	if at := d.answering(); at != nil {
		at.end, at.again = began, true
		d.asked = 0
	}
	d.note(queue, began, ended, err)
	d.from = ended
}

// Ask notes that the engine whose turn it is is asked, and returns the traceparent that it is sent; "" from a nil
// Draft.
func (d *Draft) Ask() string {
	if d == nil {
		return ""
	}
	at := d.ask(d.from)
	d.asked = int32(len(d.marks))
	return d.Parent(at.span)
}

// Clock tells the time since the request's arrival.
type Clock interface{ Since() time.Duration }

// AskBeside notes that another engine is asked at the same time, for a turn before. It ends with the turn of now, or
// when it is asked again.
func (d *Draft) AskBeside(turn int, now Clock) string {
	if d == nil {
		return ""
	}
	began := now.Since()
	for i := range d.marks {
		if at := &d.marks[i]; at.stage == engine && int(at.turn) == turn && at.end == 0 {
			at.end, at.again = began, true
		}
	}
	at := d.ask(began)
	at.turn = int32(turn)
	return d.Parent(at.span)
}

// Turns returns the number of the turn; 0 from a nil Draft.
func (d *Draft) Turns() int {
	if d == nil {
		return 0
	}
	return int(d.turn)
}

func (d *Draft) ask(began time.Duration) *mark {
	d.marks = append(d.marks, mark{start: began, stage: engine, turn: d.turn, span: newID()})
	return &d.marks[len(d.marks)-1]
}

// answering returns the mark of the engine that answers; nil if none does.
func (d *Draft) answering() *mark {
	if d.asked == 0 {
		return nil
	}
	return &d.marks[d.asked-1]
}

// TurnEnded notes the end of the replica's turn, and of all that engines were asked in it.
func (d *Draft) TurnEnded(ended time.Duration) {
	if d == nil {
		return
	}
	d.asked = 0
	for i := range d.marks {
		if at := &d.marks[i]; at.stage == engine && at.end == 0 {
			at.end = ended
		}
	}
}

// Began notes that the head of the answer is sent. native says that its engine speaks the words of the client's door.
func (d *Draft) Began(at time.Duration, native bool) {
	if d != nil {
		d.head, d.native = max(at, 1), native
	}
}
