package ui

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func answer(method, target string, fields ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w.Result()
}

// Issue 22: a strict policy, with every answer, errors included; nothing frames the page, and it is asked for again.
func TestEveryFileHasThePolicy(t *testing.T) {
	targets := []string{Root, Root + "none.js", Root + "../ui.go"}
	for name := range files() {
		targets = append(targets, Root+name)
	}
	for _, target := range targets {
		resp := answer("GET", target)
		for header, want := range map[string]string{"Content-Security-Policy": policy, "X-Frame-Options": "DENY",
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin"} {
			if got := resp.Header.Get(header); got != want {
				t.Errorf("%s: %s is %q", target, header, got)
			}
		}
		_, there := files()[strings.TrimPrefix(target, Root)]
		if there != (resp.StatusCode == http.StatusOK) {
			t.Errorf("%s: status %d", target, resp.StatusCode)
		}
		if tag := resp.Header.Get("Etag"); there && answer("GET", target, "If-None-Match", tag).StatusCode != 304 {
			t.Errorf("%s is sent again though it is the same", target)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
		t.Error(policy)
	}
}

var (
	loaded   = regexp.MustCompile(`(?:src|href)="([^"#]+)"`)
	imported = regexp.MustCompile(`(?s)import\s+(?:[^;'"]*?\sfrom\s+)?'([^']+)'`)
)

// loads returns every file that index.html loads, by itself and by modules.
func loads(t *testing.T) map[string]file {
	t.Helper()
	all, found := files(), map[string]file{"index.html": files()["index.html"]}
	var follow func(name string)
	follow = func(name string) {
		f, ok := all[name]
		if !ok {
			t.Fatalf("%s is loaded, and not there", name)
		}
		if _, done := found[name]; done {
			return
		}
		found[name] = f
		if path.Ext(name) == ".js" && !strings.HasPrefix(name, "vendor/") {
			for _, m := range imported.FindAllSubmatch(f.text, -1) {
				follow(path.Join(path.Dir(name), string(m[1])))
			}
		}
	}
	for _, m := range loaded.FindAllSubmatch(all["index.html"].text, -1) {
		follow(string(m[1]))
	}
	return found
}

// Issue 22: the first paint is at most 200 KB in all, and every file that is embedded is loaded or a licence.
func TestTheFirstPaintIsSmall(t *testing.T) {
	sum, found := 0, loads(t)
	for _, f := range found {
		sum += len(f.text)
	}
	if sum > 200<<10 {
		t.Errorf("index.html loads %d bytes", sum)
	}
	t.Logf("%d files, %d bytes", len(found), sum)
	for name := range files() {
		if _, ok := found[name]; !ok && name != "" && !strings.Contains(name, "LICENSE") {
			t.Errorf("%s is embedded for nothing", name)
		}
	}
}

// Issue 22: what a gateway says cannot become markup, a script, or a request to another host.
func TestNoFileMakesMarkupOfText(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|` +
		`createContextualFragment|` +
		`setHTMLUnsafe|srcdoc|\beval\(|new Function|javascript:|(?:set(?:Timeout|Interval))\(\s*['"` + "`" + `]`)
	hosts := regexp.MustCompile(`https?://[^\s'"<>)]+`)
	inline := regexp.MustCompile(`(?i)<script(?:\s[^>]*)?>\s*[^<\s]|<style|\sstyle=|\son[a-z]+=`)
	for name, f := range files() {
		for _, found := range bad.FindAll(f.text, -1) {
			t.Errorf("%s has %s", name, found)
		}
		for _, host := range hosts.FindAllString(string(f.text), -1) {
			if !strings.HasPrefix(host, "http://www.w3.org/") && !strings.HasPrefix(name, "vendor/") {
				t.Errorf("%s names %s", name, host)
			}
		}
		if path.Ext(name) == ".html" && inline.Match(f.text) {
			t.Errorf("%s: %s", name, inline.Find(f.text))
		}
	}
	if !bad.MatchString("x.innerHTML = said") || !inline.MatchString(`<p onclick="x()">`) {
		t.Error("the check finds nothing")
	}
}

// themes returns the colours of each theme by name.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	sheet := string(files()["style.css"].text)
	for name, head := range map[string]string{"light": ":root {", "dark": `:root[data-theme='dark'] {`,
		"dark by itself": ":root:not([data-theme]) {"} {
		_, block, ok := strings.Cut(sheet, head)
		if !ok {
			t.Fatalf("style.css has no %s", head)
		}
		block, _, _ = strings.Cut(block, "}")
		out[name] = map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// luminance is a colour's relative luminance (WCAG 2.2).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= .04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

// Issue 22: text has 4.5 : 1 on what it stands on, and what a graphic tells has 3 : 1 on its ground (WCAG AA), in both
// themes. Both dark themes are the same.
func TestColoursHaveContrast(t *testing.T) {
	all := themes(t)
	if a, b := fmt.Sprint(all["dark"]), fmt.Sprint(all["dark by itself"]); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	for name, theme := range all {
		for _, pair := range []struct {
			on, of string
			least  float64
		}{
			{"surface", "ink", 4.5}, {"ground", "ink", 4.5}, {"raised", "ink", 4.5}, {"surface", "muted", 4.5},
			{"ground", "muted", 4.5}, {"raised", "muted", 4.5}, {"surface", "accent", 4.5}, {"accent", "surface", 4.5},
			{"raised", "accent", 4.5}, {"good-ground", "good", 4.5}, {"warn-ground", "warn", 4.5},
			{"bad-ground", "bad", 4.5}, {"calm-ground", "calm", 4.5}, {"surface", "warn", 4.5}, {"surface", "bad", 4.5},
			{"surface", "used", 3}, {"surface", "reserved", 3}, {"surface", "cached", 3},
			{"free", "used", 3}, {"free", "reserved", 3}, {"free", "cached", 3},
		} {
			if got := contrast(t, theme[pair.on], theme[pair.of]); got < pair.least {
				t.Errorf("%s: %s on %s has %.2f : 1, want %v", name, pair.of, pair.on, got, pair.least)
			}
		}
	}
	if got := contrast(t, "#000000", "#ffffff"); math.Abs(got-21) > .01 {
		t.Errorf("black on white has %v", got)
	}
}
