package gateway

import (
	"net/http"
	"strings"

	"octet/gateway/apierr"
	"octet/gateway/intake"
)

// twofold says whether a request's target has a path that two readers may take for different ones: a slash, a backslash
// or a dot that is encoded. What stands between a client and us may let pass by one reading what is answered by the
// other.
func twofold(target string) bool {
	for {
		at := strings.IndexAny(target, "%?")
		if at < 0 || target[at] == '?' || len(target) < at+3 {
			return false
		}
		switch strings.ToLower(target[at+1 : at+3]) {
		case "2f", "5c", "2e":
			return true
		}
		target = target[at+3:]
	}
}

// certain is h for targets that are not twofold.
func (s *Server) certain(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if twofold(r.RequestURI) {
			s.refuseTarget(w, r)
			return
		}
		h(w, r)
	})
}

func (s *Server) refuseTarget(w http.ResponseWriter, r *http.Request) {
	e := apierr.New(apierr.InvalidRequest, "", "the path holds an encoded slash, backslash or dot")
	s.writeError(w, intake.RequestID(r.Header.Get("X-Request-Id"), s.newID), "", e)
	s.metrics.Refused(e.Code)
}
