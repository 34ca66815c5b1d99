package app_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"octet/app/fabric"
)

// An engine that redirects a snapshot's reader gets no key carried elsewhere: not to another port of its own host
// either, where Go's client would keep it.
//
//nolint:lll // raw text that cannot be broken
func TestASnapshotsReaderFollowsNoRedirect(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked++ }))
	defer other.Close()
	engine := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer engine.Close()
	w := newWorld(t, smallWorld, smallEngines())
	err := w.App.Fabric().Resync(t.Context(), fabric.Replica{Name: "debug-0", URL: engine.URL, APIKey: "secret"}, "/snapshot")
	if err == nil || asked > 0 {
		t.Errorf("%v, and where it led was asked %d times", err, asked)
	}
}
