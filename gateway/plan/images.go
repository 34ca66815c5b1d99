package plan

import (
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
)

// checkImages refuses images for a specialist that does not take any.
func checkImages(sp *ensemble.Specialist, r *intake.Request) error {
	if sp.Takes(&r.Parsed) {
		return nil
	}
	return apierr.New(apierr.UnsupportedContent, r.FirstImage(),
		"is an image, and "+sp.Name+" takes text only")
}

// countImages adds what images count to a prompt. Only the engine knows how many tokens each comes to.
func countImages(f *ensemble.Footprint, sp *ensemble.Specialist, r *intake.Request) {
	if n := r.Parsed.Images(); n > 0 {
		f.Tokens += n * sp.PerImage
		f.Exact = false
	}
}
