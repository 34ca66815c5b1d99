package train

import (
	"bytes"
	"fmt"
)

const (
	plot   = 300 // side of the plotted square, in pixels
	margin = 40
)

// Diagram is the reliability diagram as SVG: a bar a bin, as high as the share that was right, and the diagonal that it
// would reach if the probabilities were true. A bar is the darker the more texts are in it.
func (r *Report) Diagram() []byte {
	var b bytes.Buffer
	most := 1
	for _, bin := range r.Bins {
		most = max(most, bin.Samples)
	}
	side := plot + 2*margin
	fmt.Fprintf(
		&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n",
		side, side)
	fmt.Fprintf(&b, `<title>Reliability of %d answers: ECE %.3f</title>`+"\n", r.Samples, r.ECE)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", side, side)
	width := float64(plot) / float64(max(len(r.Bins), 1))
	for i, bin := range r.Bins {
		if bin.Samples == 0 {
			continue
		}
		fmt.Fprintf(
			&b,
			`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#1f6feb" fill-opacity="%.2f">`+
				`<title>%d texts, sure of %.3f, right %.3f</title></rect>`+"\n",
			margin+float64(i)*width, margin+plot*(1-bin.Right), width-1, plot*bin.Right,
			0.25+0.75*float64(bin.Samples)/float64(most),
			bin.Samples, bin.Confidence, bin.Right)
	}
	fmt.Fprintf(&b, `<path d="M%d %dV%dH%d" fill="none" stroke="#333"/>`+"\n", margin, margin, margin+plot, margin+plot)
	fmt.Fprintf(&b, `<path d="M%d %dL%d %d" stroke="#c33" stroke-dasharray="4 3"/>`+"\n", margin, margin+plot,
		margin+plot, margin)
	for i := range 6 {
		share := float64(i) / 5
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%.1f</text>`+"\n", margin+plot*share,
			margin+plot+14, share)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%.1f</text>`+"\n", margin-5, margin+plot*(1-share)+4,
			share)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">probability of the first choice</text>`+"\n",
		margin+plot/2, margin+plot+30)
	fmt.Fprintf(&b, `<text x="%d" y="%d">share that is right; ECE %.3f</text>`+"\n</svg>\n", margin, margin-12, r.ECE)
	return b.Bytes()
}
