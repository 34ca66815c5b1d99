package top

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"octet/gateway/api"
)

func number(n int) string { return strconv.Itoa(n) }

// part is n of all in per cent, "-" of nothing.
func part(n, all int) string {
	if all <= 0 {
		return "-"
	}
	return number((100*n + all/2) / all)
}

// share is a fraction in per cent, "-" where it is not known.
func share(f *float64) cell {
	if f == nil {
		return valued("-", -1)
	}
	return valued(fmt.Sprintf("%.0f%%", 100**f), *f)
}

// milliseconds is a time as people read it, "-" where it is not known.
func milliseconds(ms *float64) cell {
	if ms == nil {
		return valued("-", -1)
	}
	return valued(lasting(time.Duration(*ms*float64(time.Millisecond))), *ms)
}

// lasting is a duration in at most seven characters.
func lasting(d time.Duration) string {
	switch {
	case d < 0:
		return "0ms"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.3gms", float64(d)/1e6)
	case d < 10*time.Second:
		return fmt.Sprintf("%.2gs", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// queue is the requests that wait, by priority: "7:2 0:11".
func queue(levels []api.Queued) string {
	words := make([]string, 0, len(levels))
	for _, l := range levels {
		words = append(words, fmt.Sprintf("%d:%d", l.Priority, l.Waiting))
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// pool is a pool's blocks.
type pool struct{ total, used, reserved, cached, free int }

// cell is the four parts in per cent, ordered by what is taken.
func (p pool) cell() cell {
	if p.total == 0 {
		return valued("-", -1)
	}
	taken := float64(p.used+p.reserved) / float64(p.total)
	return valued(fmt.Sprintf("%s/%s/%s/%s", part(p.used, p.total), part(p.reserved, p.total), part(p.cached, p.total),
		part(p.free, p.total)), taken).as(warn, taken > 0.9)
}

func (p pool) detail() string {
	if p.total == 0 {
		return "pool     not known"
	}
	return fmt.Sprintf("pool     %d blocks: %d used, %d reserved, %d free; %d hold cached prefixes", p.total, p.used,
		p.reserved, p.free, p.cached)
}

func hits(h *api.HitAccuracy) string {
	return fmt.Sprintf("hits     %d predicted: %d delivered, %d in part, %d not", h.All+h.Part+h.None, h.All,
		h.Part, h.None)
}
