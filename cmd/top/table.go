package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// column is one of a table. Numbers stand on the right, and are sorted with the largest first.
type column struct {
	head   string
	number bool
}

// cell is what stands in a column of a row.
type cell struct {
	text  string
	order float64 // of a column of numbers
	style style
}

func word(s string) cell               { return cell{text: s} }
func count(n int) cell                 { return cell{text: number(n), order: float64(n)} }
func valued(s string, by float64) cell { return cell{text: s, order: by} }
func (c cell) as(s style, on bool) cell { // painted if on
	if on {
		c.style = s
	}
	return c
}

// row is one thing of a table: key names it, and does not change while it is there.
type row struct {
	key    string
	cells  []cell
	detail func() []string // what is told of it while it is chosen
}

// table is what a view lists.
type table struct {
	columns []column
	rows    []row
	empty   string // said where there are no rows
}

// keep leaves the rows that contain text in any cell, whatever the case.
func (t *table) keep(text string) {
	if text = strings.ToLower(text); text == "" {
		return
	}
	t.rows = slices.DeleteFunc(t.rows, func(r row) bool {
		return !slices.ContainsFunc(r.cells, func(c cell) bool {
			return strings.Contains(strings.ToLower(c.text), text)
		})
	})
}

// sort orders the rows by a column, from 1 on; 0 leaves them as the gateway tells them.
func (t *table) sort(by int, reverse bool) {
	if by > 0 && by <= len(t.columns) {
		at := by - 1
		slices.SortStableFunc(t.rows, func(a, b row) int {
			if t.columns[at].number {
				return cmp.Compare(b.cells[at].order, a.cells[at].order)
			}
			return cmp.Compare(a.cells[at].text, b.cells[at].text)
		})
	}
	if reverse {
		slices.Reverse(t.rows)
	}
}

const leastName = 12 // cells of a column of names, where columns have to go

// widths returns how wide each column is within so many cells, 0 is no bound: the widest names give way,
// then the last columns go.
func (t *table) widths(within int) []int {
	w, sum := make([]int, len(t.columns)), 0
	for i, c := range t.columns {
		w[i] = len(c.head) + 1 // and the mark of the order
		for _, r := range t.rows {
			w[i] = max(w[i], ansi.StringWidth(r.cells[i].text))
		}
		sum += w[i] + 1
	}
	if sum--; within == 0 || sum <= within {
		return w
	}
	for at := t.widest(w); sum > within && w[at] > leastName; at = t.widest(w) {
		w[at]--
		sum--
	}
	for sum > within && len(w) > 1 {
		sum -= w[len(w)-1] + 1
		w = w[:len(w)-1]
	}
	return w
}

// widest is the widest column of names.
func (t *table) widest(w []int) (at int) {
	for i := range w {
		if !t.columns[i].number && (t.columns[at].number || w[i] > w[at]) {
			at = i
		}
	}
	return at
}

// head is the line of the columns' names.
func (t *table) head(w []int, by int, reverse bool) string {
	cells := make([]string, len(w))
	for i := range w {
		name := t.columns[i].head
		switch {
		case by != i+1:
		case reverse:
			name += "^"
		default:
			name += "v"
		}
		cells[i] = pad(name, w[i], t.columns[i].number)
	}
	return bold.paint(strings.TrimRight(strings.Join(cells, " "), " "))
}

// line is one row; a chosen one is marked over the width.
func (t *table) line(w []int, r *row, isChosen bool, within int) string {
	cells := make([]string, len(w))
	for i := range w {
		text := pad(r.cells[i].text, w[i], t.columns[i].number)
		if !isChosen {
			text = r.cells[i].style.paint(text)
		}
		cells[i] = text
	}
	text := strings.Join(cells, " ")
	if isChosen {
		return chosen.paint(pad(text, within, false))
	}
	return strings.TrimRight(text, " ")
}
