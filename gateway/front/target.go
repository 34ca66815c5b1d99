package front

import (
	"net/http"
	"strings"

	"octet/gateway/apierr"
)

// Certain is h for requests whose target has one meaning. The others are refused: a proxy before the gateway could let
// them pass by one meaning, and the gateway answer by the other.
func Certain(h http.HandlerFunc, refuse Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if twofold(r.RequestURI) {
			refuse(w, Asked{r.URL.Path, r.Header.Get("X-Request-Id")},
				apierr.New(apierr.InvalidRequest, "", "the path holds an encoded slash, backslash or dot"))
			return
		}
		h(w, r)
	})
}

// twofold returns true if a target has a path that two readers can take for different ones: a slash, a backslash or a
// dot is encoded in it.
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
