package replay

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The plot's measures, in pixels.
const (
	plotWidth, plotHeight = 860, 520
	plotLeft, plotRight   = 60, 300 // the right margin holds the legend
	plotTop, plotBottom   = 40, 50
)

// palette tells up to ten profiles apart, for the colour-blind too; then it begins again.
var palette = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#882255",
	"#999933", "#888888"}

// WriteSVG plots, for each result, which share of the requests had its first token within which time. Time is
// logarithmic.
func WriteSVG(w io.Writer, title string, goal float64, results []Result) error {
	p := plot{low: 0.05, high: max(goal*2, 1)}
	for _, r := range results {
		if n := len(r.Curve); n > 0 {
			p.high = max(p.high, r.Curve[n-1])
		}
	}
	p.line(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`,
		plotWidth, plotHeight)
	p.line(`<rect width="100%%" height="100%%" fill="white"/>`)
	p.line(`<text x="%d" y="22" font-size="15">%s</text>`, plotLeft, html.EscapeString(title))
	p.axes(goal)
	for i := range results {
		p.curve(i, &results[i])
	}
	p.line("</svg>")
	_, err := io.WriteString(w, p.b.String())
	return err
}

type plot struct {
	b         strings.Builder
	low, high float64 // seconds
}

func (p *plot) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *plot) x(seconds float64) float64 {
	at := math.Log(max(p.low, seconds)/p.low) / math.Log(p.high/p.low)
	return plotLeft + at*(plotWidth-plotLeft-plotRight)
}

func (p *plot) y(share float64) float64 {
	return plotHeight - plotBottom - share*(plotHeight-plotTop-plotBottom)
}

func (p *plot) axes(goal float64) {
	bottom, right := p.y(0), p.x(p.high)
	for i := range 11 {
		y := p.y(float64(i) / 10)
		p.line(`<line x1="%d" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, plotLeft, y, right, y)
		p.line(`<text x="%d" y="%.1f" text-anchor="end">%d %%</text>`, plotLeft-6, y+4, i*10)
	}
	for decade := 0.01; decade <= p.high; decade *= 10 {
		for _, m := range [...]float64{1, 2, 5} {
			if t := decade * m; t >= p.low*0.999 && t <= p.high {
				p.line(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%.1f" stroke="#ddd"/>`, p.x(t), plotTop, p.x(t), bottom)
				p.line(`<text x="%.1f" y="%.1f" text-anchor="middle">%.3g s</text>`, p.x(t), bottom+18, t)
			}
		}
	}
	p.line(`<line x1="%.1f" y1="%d" x2="%.1f" y2="%.1f" stroke="#c00" stroke-dasharray="4 3"/>`, p.x(goal), plotTop,
		p.x(goal), bottom)
	p.line(`<text x="%d" y="%d">requests whose first token came within so long</text>`, plotLeft, plotHeight-12)
}

func (p *plot) curve(i int, r *Result) {
	colour := palette[i%len(palette)]
	var points strings.Builder
	for j, t := range r.Curve {
		fmt.Fprintf(&points, "%.1f,%.1f ", p.x(t), p.y(float64(j)/float64(len(r.Curve)-1)))
	}
	p.line(`<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`, colour,
		strings.TrimSpace(points.String()))
	y := plotTop + 12 + 34*i
	left := plotWidth - plotRight + 16
	p.line(`<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="3"/>`, left, y-4, left+20, y-4, colour)
	p.line(`<text x="%d" y="%d">%s</text>`, left+26, y, html.EscapeString(r.Profile))
	p.line(`<text x="%d" y="%d" fill="#555" font-size="11">p90 %.2f s, hit %.1f %%, goodput %.1f %%</text>`,
		left+26, y+14, r.TTFT.P90, r.HitRate*100, r.Goodput*100)
}
