package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

const noteLasts = 10 * time.Second

// Frame is what the terminal shows: at most Height lines of at most Width cells.
func (m *Model) Frame() []string {
	if m.Width < LeastWidth || m.Height < LeastHeight {
		said := fmt.Sprintf("octet top needs %d x %d cells, here are %d x %d", LeastWidth, LeastHeight,
			m.Width, m.Height)
		return []string{ansi.Truncate(said, max(m.Width, 0), "")}[:min(1, max(m.Height, 0))]
	}
	lines := append([]string{m.top()}, m.banner())
	switch {
	case m.page != nil:
		lines = append(lines, m.covered()...)
	case m.reading == nil:
		lines = append(lines, "nothing is known of the gateway yet")
	default:
		lines = append(lines, m.body()...)
	}
	for len(lines) < m.Height-2 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.Height-2], m.said(), m.keys())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.Width, "~")
	}
	return lines
}

// top says which gateway is shown, and how old that is.
func (m *Model) top() string {
	left, right := bold.paint("octet top")+" "+clean(m.URL), "no answer yet"
	if r := m.reading; r != nil {
		left += fmt.Sprintf("  generation %d  up %s  %d open", r.State.Generation, lasting(r.At.Sub(r.State.Started)),
			r.State.Open)
		if r.State.Draining {
			left += "  " + warn.paint("DRAINING")
		}
		right = number(int(max(m.Now.Sub(r.At), 0).Seconds())) + "s old"
	}
	room := m.Width - ansi.StringWidth(right) - 1
	return pad(left, room, false) + " " + right
}

// banner says which view is shown, or that the gateway is away.
func (m *Model) banner() string {
	if m.failure != "" {
		age := ""
		if m.reading != nil {
			age = ", shown is what was " + number(int(m.Now.Sub(m.reading.At).Seconds())) + "s ago"
		}
		return bad.paint("AWAY for " + number(int(max(m.Now.Sub(m.away), 0).Seconds())) + "s" + age +
			"; asked again each second")
	}
	words := make([]string, views)
	for v := range views {
		words[v] = fmt.Sprintf("%d %s", v+1, v)
		if v == m.shows {
			words[v] = chosen.paint("[" + words[v] + "]")
		}
	}
	line := strings.Join(words, "  ")
	if m.filter != "" {
		line += "  filter: " + clean(m.filter)
	}
	return line
}

const detailLines = 5

// room is how many rows of a table are shown.
func (m *Model) room() int { return m.Height - 2 - 1 - 2 - detailLines - 1 }

// body is the table of the view, and what is told of the row that is chosen.
func (m *Model) body() []string {
	t, l := m.table(), &m.list[m.shows]
	w := t.widths(m.Width)
	lines := []string{t.head(w, l.sort, l.reverse)}
	if len(t.rows) == 0 {
		return append(lines, t.empty)
	}
	at, room := l.index(t.rows), max(m.room(), 1)
	from := max(0, min(at-room/2, len(t.rows)-room))
	to := min(from+room, len(t.rows))
	for i := from; i < to; i++ {
		lines = append(lines, t.line(w, &t.rows[i], i == at, m.Width))
	}
	for len(lines) < room+1 {
		lines = append(lines, "")
	}
	rest := fmt.Sprintf("-- %d of %d ", at+1, len(t.rows))
	lines = append(lines, rest+strings.Repeat("-", max(m.Width-len(rest), 0)))
	return append(lines, t.rows[at].detail()...)
}

// covered is the part of a page that is shown.
func (m *Model) covered() []string {
	p, room := m.page, max(m.Height-5, 1)
	to := min(p.from+room, len(p.lines))
	lines := []string{bold.paint(fmt.Sprintf("%s, lines %d to %d of %d", p.title, min(p.from+1, to), to, len(p.lines)))}
	return append(lines, p.lines[p.from:to]...)
}

// said is the line above the keys: a question, what is typed, or what was done.
func (m *Model) said() string {
	switch {
	case m.drain != nil && m.drain.on:
		return warn.paint("drain " + clean(m.drain.replica) + "? it gets no new requests.  y / n")
	case m.drain != nil:
		return warn.paint("end the drain of " + clean(m.drain.replica) + "?  y / n")
	case m.line != nil:
		return bold.paint(m.line.of+": ") + clean(m.line.text) + "_"
	case m.note != "" && m.Now.Sub(m.noted) < noteLasts:
		return m.note
	}
	return m.failure
}

func (m *Model) keys() string {
	switch {
	case m.drain != nil:
		return "y yes  any other key no"
	case m.line != nil:
		return "enter take it  esc leave it"
	case m.page != nil:
		return "up down pgup pgdown  any other key leaves"
	}
	if m.Width < 80 {
		return "1-5  s sort  / filter  d drain  o receipt  ? help  q quit"
	}
	return "1-5 views  s sort  / filter  enter open  d drain  o receipt  ? help  q quit"
}

// Once is a frame without a terminal's bounds: the tables of specialists, replicas, open requests
// and, where there are any, adapters, plain.
func Once(url string, r *Reading) string {
	m := Model{URL: url, Now: r.At, reading: r}
	var out strings.Builder
	fmt.Fprintf(&out, "octet top %s  generation %d  up %s  %d open\n", clean(url), r.State.Generation,
		lasting(r.At.Sub(r.State.Started)), r.State.Open)
	for _, v := range []view{specialists, replicas, requests, loaded} {
		m.shows = v
		t := m.table()
		if v == loaded && len(t.rows) == 0 {
			continue
		}
		w := t.widths(0)
		out.WriteString("\n" + t.head(w, 0, false) + "\n")
		for i := range t.rows {
			out.WriteString(t.line(w, &t.rows[i], false, 0) + "\n")
		}
		if len(t.rows) == 0 {
			out.WriteString(t.empty + "\n")
		}
	}
	return ansi.Strip(out.String())
}
