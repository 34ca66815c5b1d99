package front

import (
	"net/http"

	"octet/gateway/apierr"
)

// refuseHead answers what could not be read as a request.
func (cfg *Config) refuseHead(w http.ResponseWriter, status int, message string) {
	cfg.Refuse(w, "", refusalOf(status, message))
}

// refusalOf is the typed error for a status of a server.
func refusalOf(status int, message string) *apierr.Error {
	e := apierr.New(apierr.InvalidRequest, "", message)
	switch status {
	case http.StatusServiceUnavailable:
		e.Code = apierr.Overloaded
	case http.StatusTooManyRequests:
		e.Code = apierr.QuotaExceeded
	case http.StatusRequestTimeout:
		e.Code = apierr.RequestTimeout
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Code = apierr.HeaderTooLarge
	default:
		e.HTTPStatus = status
	}
	return e
}
