package front

import (
	"net/http"
	"strings"

	"octet/gateway/apierr"
	"octet/internal/http1/server"
)

// refuseHead answers what could not be read as a request.
func (cfg *Config) refuseHead(w http.ResponseWriter, why server.Refused) {
	path, _, _ := strings.Cut(why.Target, "?")
	e := refusalOf(why.Status, why.Text)
	e.RetryAfter = why.Wait
	cfg.Refuse(w, Asked{Path: path}, e)
}

// refusalOf is the typed error for a status of a server.
func refusalOf(status int, message string) *apierr.Error {
	e := apierr.New(apierr.InvalidRequest, "", message)
	switch status {
	case http.StatusServiceUnavailable:
		e.Code = apierr.Overloaded
	case http.StatusRequestTimeout:
		e.Code = apierr.RequestTimeout
	case http.StatusRequestHeaderFieldsTooLarge:
		e.Code = apierr.HeaderTooLarge
	default:
		e.HTTPStatus = status
	}
	return e
}
