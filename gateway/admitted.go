package gateway

// countAdmission counts the first place that a request gets.
func (x *exchange) countAdmission() {
	if !x.admitted {
		x.admitted = true
		x.heard()
		x.sp.Metrics.Admit(x.request.Intent.Priority)
	}
}
