package gateway

// ahead has the processor bring the half KiB from p on near, and waits for nothing. What does not exist is not brought.
//
//go:noescape
func ahead(p *byte)
