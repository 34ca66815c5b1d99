package top

import (
	"unicode"
	"unicode/utf8"
)

// keyHelp is what each key does, for the page of ?.
var keyHelp = []string{
	"1 2 3 4 5, tab  specialists, replicas, open requests by age, decisions as they end,",
	"                adapters",
	"up down, k j    choose a row; pgup pgdown, home end",
	"enter           of a specialist its replicas; of a request or decision its receipt",
	"s, S            sort by the next column; the other way round",
	"/               filter: rows that contain a text; an empty one shows all",
	"d               drain the chosen replica, or end its drain; asks",
	"o               open a receipt by its id",
	"esc             back; no filter",
	"?               these keys",
	"q, ctrl+c       quit",
	"",
	"POOL U/R/C/F    blocks used / reserved / cached / free, in per cent of the pool;",
	"                cached ones may be used as well",
	"HIT             predicted hits that were delivered whole",
	"CORRECT/FLOOR   share of answers that passed, and what is promised",
	"-               not known, or too few samples",
}

// pressed does what a key asks for.
func (m Model) pressed(key string) (Model, []any) {
	switch {
	case key == "ctrl+c":
		return m, []any{Quit{}}
	case m.drain != nil:
		return m.answered(key)
	case m.line != nil:
		return m.typed(key)
	case m.page != nil:
		return m.paged(key)
	}
	switch key {
	case "q":
		return m, []any{Quit{}}
	case "?":
		m.page = &page{title: "keys", lines: keyHelp}
	case "/":
		m.line = &prompt{of: "filter", text: m.filter}
	case "o":
		m.line = &prompt{of: "receipt"}
	case "esc":
		m.filter = ""
	case "d":
		return m.ask(), nil
	case "enter":
		return m.enter()
	case "1", "2", "3", "4", "5":
		return m.show(view(key[0] - '1'))
	case "tab":
		return m.show((m.shows + 1) % views)
	default:
		m.listed(key)
	}
	return m, nil
}

// show shows a view. Decisions are told while they are shown.
func (m Model) show(v view) (Model, []any) {
	was := m.shows
	m.shows = v
	if (was == decisions) != (v == decisions) {
		return m, []any{Watch{v == decisions}}
	}
	return m, nil
}

// listed moves among the rows, or sorts them.
func (m *Model) listed(key string) {
	t, l := m.table(), &m.list[m.shows]
	at, page := l.index(t.rows), max(m.room(), 1)
	switch key {
	case "s":
		l.sort, l.reverse = (l.sort+1)%(len(t.columns)+1), false
		return
	case "S":
		l.reverse = !l.reverse
		return
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home":
		at = 0
	case "end":
		at = len(t.rows) - 1
	default:
		return
	}
	l.at, l.key = max(0, min(at, len(t.rows)-1)), ""
	if len(t.rows) > 0 {
		l.key = t.rows[l.at].key
	}
}

// index is where the chosen row is now.
func (l *listing) index(rows []row) int {
	for i := range rows {
		if l.key != "" && rows[i].key == l.key {
			return i
		}
	}
	return max(0, min(l.at, len(rows)-1))
}

// chosenRow is the row that keys are about; nil if there is none.
func (m *Model) chosenRow() *row {
	t := m.table()
	if len(t.rows) == 0 {
		return nil
	}
	return &t.rows[m.list[m.shows].index(t.rows)]
}

func (m Model) enter() (Model, []any) {
	r := m.chosenRow()
	switch {
	case r == nil:
	case m.shows == specialists:
		m.filter = clean(r.key)
		return m.show(replicas)
	case m.shows == requests, m.shows == decisions:
		id := r.key
		if m.shows == requests {
			id = requestID(id)
		}
		return m, []any{Fetch{id}}
	}
	return m, nil
}

// ask asks whether to drain the chosen replica.
func (m Model) ask() Model {
	r := m.chosenRow()
	if m.shows != replicas || r == nil {
		m.say("d drains the replica that is chosen in view 2")
		return m
	}
	on := true
	if of := m.replica(r.key); of != nil {
		on = !of.Draining
	}
	m.drain = &drain{r.key, on}
	return m
}

// answered takes the answer to that. Only y is a yes.
func (m Model) answered(key string) (Model, []any) {
	d := *m.drain
	m.drain = nil
	if key != "y" && key != "Y" {
		m.say("nothing was changed")
		return m, nil
	}
	return m, []any{Drain{d.replica, d.on}}
}

const mostTyped = 256 // bytes

func (m Model) typed(key string) (Model, []any) {
	p := *m.line
	m.line = &p
	r, size := utf8.DecodeRuneInString(key)
	switch {
	case key == "esc":
		m.line = nil
	case key == "enter":
		m.line = nil
		if p.of == "filter" {
			m.filter = p.text
		} else if p.text != "" {
			return m, []any{Fetch{p.text}}
		}
	case key == "backspace":
		_, last := utf8.DecodeLastRuneInString(p.text)
		p.text = p.text[:len(p.text)-last]
	case key == "space":
		p.text += " "
	case size == len(key) && unicode.IsPrint(r) && len(p.text)+size <= mostTyped:
		p.text += key
	}
	return m, nil
}

// paged moves in a page, or leaves it.
func (m Model) paged(key string) (Model, []any) {
	p := *m.page
	m.page = &p
	room := max(m.Height-4, 1)
	switch key {
	case "up", "k":
		p.from--
	case "down", "j":
		p.from++
	case "pgup":
		p.from -= room
	case "pgdown", "space":
		p.from += room
	case "home":
		p.from = 0
	case "end":
		p.from = len(p.lines)
	default:
		m.page = nil
	}
	p.from = max(0, min(p.from, len(p.lines)-room))
	return m, nil
}
