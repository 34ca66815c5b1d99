package calibration

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// The plot's measures, in pixels: a row for each intent, with two panels.
const (
	panel    = 260
	margin   = 56
	rowSpan  = panel + 2*margin
	plotWide = 2*panel + 4*margin
)

// WriteSVG plots, for each intent and each form of its answers, its reliability and what thresholds cost and catch.
func (r Report) WriteSVG(w io.Writer) error {
	var c canvas
	plots := r.plots()
	c.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`,
		plotWide, max(1, len(plots))*rowSpan)
	c.line(`<rect width="100%%" height="100%%" fill="white"/>`)
	for i := range plots {
		c.top = i*rowSpan + margin
		c.plot(&plots[i])
	}
	c.line("</svg>")
	_, err := io.WriteString(w, c.b.String())
	return err
}

// plot is one row.
type plot struct {
	name      string
	threshold float64 // in force
	*FormReport
}

func (r Report) plots() (all []plot) {
	for i := range r.Intents {
		in := &r.Intents[i]
		all = append(all, plot{in.Intent, in.Threshold, &in.FormReport})
		if in.ToolCalls != nil {
			all = append(all, plot{in.Intent + ", tool calls", in.Threshold, in.ToolCalls})
		}
		if in.JSON != nil {
			all = append(all, plot{in.Intent + ", JSON", in.Threshold, in.JSON})
		}
	}
	return all
}

// canvas draws in a panel whose corners are 0 and 1.
type canvas struct {
	b         strings.Builder
	left, top int
}

func (c *canvas) line(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *canvas) x(v float64) float64 { return float64(c.left) + v*panel }
func (c *canvas) y(v float64) float64 { return float64(c.top) + (1-v)*panel }

func (c *canvas) plot(r *plot) {
	c.left = margin
	ece := "no samples"
	if r.Reliability.ECE != nil {
		ece = fmt.Sprintf("calibration error %.3f", *r.Reliability.ECE)
	}
	c.frame(fmt.Sprintf("%s: %s (%s)", r.name, ece, r.Reliability.Basis), "confidence")
	c.line(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#999" stroke-dasharray="4 3"/>`, c.x(0), c.y(0),
		c.x(1), c.y(1))
	for _, b := range r.Reliability.Bins {
		c.line(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#56b4e9" fill-opacity="0.6"/>`, c.x(b.Low),
			c.y(b.Held), c.x(b.High)-c.x(b.Low)-1, c.y(0)-c.y(b.Held))
		c.line(`<circle cx="%.1f" cy="%.1f" r="3" fill="#0072b2"/>`, c.x(b.Confidence), c.y(b.Held))
	}
	c.left = margin + panel + 2*margin
	c.frame(fmt.Sprintf("%d comparisons, recommended %s", r.Comparisons, brief(r.Recommended)), "threshold")
	c.curve(r.Thresholds, "#d55e00", func(t ThresholdCost) *float64 { return t.Shadowed })
	c.curve(r.Thresholds, "#009e73", func(t ThresholdCost) *float64 { return t.Caught })
	c.legend(0, "#d55e00", "requests shadowed")
	c.legend(1, "#009e73", "disagreements caught")
	c.mark(r.threshold, "#000")
	if rec := r.Recommended; rec.Threshold != nil {
		c.line(`<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="#cc79a7" fill-opacity="0.25"/>`, c.x(*rec.Low),
			c.y(1), c.x(*rec.High)-c.x(*rec.Low), panel)
		c.mark(*rec.Threshold, "#cc79a7")
	}
}

func brief(r Recommendation) string {
	if r.Threshold == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.2f", *r.Threshold)
}

func (c *canvas) frame(title, axis string) {
	c.line(`<text x="%.1f" y="%d" font-size="13">%s</text>`, c.x(0), c.top-12, html.EscapeString(plain(title)))
	c.line(`<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, c.x(0.5), c.y(0)+34, axis)
	for i := range 6 {
		v := float64(i) / 5
		c.line(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, c.x(0), c.y(v), c.x(1), c.y(v))
		c.line(`<text x="%.1f" y="%.1f" text-anchor="end">%.1f</text>`, c.x(0)-5, c.y(v)+4, v)
		c.line(`<text x="%.1f" y="%.1f" text-anchor="middle">%.1f</text>`, c.x(v), c.y(0)+16, v)
	}
}

func (c *canvas) curve(costs []ThresholdCost, colour string, of func(ThresholdCost) *float64) {
	var points strings.Builder
	for _, t := range costs {
		if v := of(t); v != nil {
			fmt.Fprintf(&points, "%.1f,%.1f ", c.x(t.Threshold), c.y(*v))
		}
	}
	c.line(`<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`, colour,
		strings.TrimSpace(points.String()))
}

func (c *canvas) mark(at float64, colour string) {
	c.line(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-dasharray="4 3"/>`, c.x(at), c.y(1),
		c.x(at), c.y(0), colour)
}

func (c *canvas) legend(i int, colour, text string) {
	y := c.top + 16 + 16*i
	c.line(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="%s" stroke-width="3"/>`, c.x(0.04), y-4, c.x(0.1), y-4,
		colour)
	c.line(`<text x="%.1f" y="%d">%s</text>`, c.x(0.12), y, text)
}
