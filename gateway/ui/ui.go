package ui

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed assets
var embedded embed.FS

// Root is the path below which the page is served.
const Root = "/ui/"

// policy lets the page load and ask what is of its own origin, and be framed by nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// file is one file of the page.
type file struct {
	text []byte
	kind string
	tag  string // ETag
}

// Handler returns what answers GET and HEAD of Root and of all below it.
func Handler() http.Handler { return serve(files()) }

// files returns the embedded files by their path below Root; index.html is that of Root itself.
func files() map[string]file {
	all := map[string]file{}
	err := fs.WalkDir(embedded, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(name)
		sum := sha256.Sum256(text)
		kind := mime.TypeByExtension(path.Ext(name))
		switch path.Ext(name) { // whatever the machine's own tables say
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".css":
			kind = "text/css; charset=utf-8"
		case ".html":
			kind = "text/html; charset=utf-8"
		case ".svg":
			kind = "image/svg+xml"
		case ".txt":
			kind = "text/plain; charset=utf-8"
		}
		all[strings.TrimPrefix(name, "assets/")] = file{text, kind,
			`"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
		return err
	})
	if err != nil {
		panic("ui: an embedded file cannot be read: " + err.Error())
	}
	all[""] = all["index.html"]
	return all
}

func serve(all map[string]file) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		f, ok := all[strings.TrimPrefix(r.URL.Path, Root)]
		if !ok {
			http.Error(w, "there is nothing at this path", http.StatusNotFound)
			return
		}
		h.Set("Content-Type", f.kind)
		h.Set("Cache-Control", "no-cache") // asked for by its tag each time: a newer gateway has a newer page
		h.Set("ETag", f.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.text))
	})
}
