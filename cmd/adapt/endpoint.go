package adapt

import (
	"net/url"
	"strings"
)

// endpoints are the URLs of engines that are in the result, each of one replica.
type endpoints map[string]string // and what the replica is of

// of returns an engine's base URL as a replica has it: without the /v1 that clients of the OpenAI API add. "" if it is
// none, with a note.
func (e endpoints) of(v *value, text, owner string, notes *Notes) string {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		notes.on(v, "left out: not the http or https URL of an engine")
		return ""
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		notes.on(v, "left out: a replica's URL has no user, query or fragment")
		return ""
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	base := strings.TrimRight(u.String(), "/")
	key := strings.ToLower(base)
	if other, taken := e[key]; taken {
		notes.on(v, "left out: this engine is a replica of %s already, and an engine serves one specialist; "+
			"a LoRA adapter of it stands in its adapters", other)
		return ""
	}
	e[key] = owner
	return base
}
