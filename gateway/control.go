package gateway

import (
	"net/http"
	"time"
)

// control is a http.ResponseController that costs no allocation.
type control struct{ w http.ResponseWriter }

func (c control) Flush() error { return http.NewResponseController(c.w).Flush() }

func (c control) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(c.w).SetReadDeadline(t)
}

func (c control) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(c.w).SetWriteDeadline(t)
}
