// Package browser opens the operators' page in headless Chromium, over the real binary and over a gateway that is large
// and says hostile things.
package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"octet/internal/program"
)

// patience bounds what a test waits for in all.
const patience = 4 * time.Minute

// chromium returns the browser's path. Without one the test is skipped, or fails where OCTET_REQUIRE_CHROMIUM is set.
func chromium(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the browser is left out with -short")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("OCTET_REQUIRE_CHROMIUM") != "" {
		t.Fatal("no Chromium: apt-get install -y chromium")
	}
	t.Skip("no Chromium: apt-get install -y chromium")
	return ""
}

// built is the binary: the one that OCTET_BINARY names, else one that is made of the tree.
var built = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("OCTET_BINARY"); given != "" {
		return given, nil
	}
	dir, err := os.MkdirTemp("", "octet-browser-")
	if err != nil {
		return "", err
	}
	made = dir
	binary := filepath.Join(dir, "octet")
	return binary, program.Build(context.Background(), binary)
})

// made is where built has put its binary; "" if it has made none.
var made string

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		_ = os.RemoveAll(made)
	}
	os.Exit(code)
}

// tab is one tab of a browser, and what it has complained of.
type tab struct {
	t    testing.TB
	ctx  context.Context
	base string // of the admin listener

	mu       sync.Mutex
	faults   []string // what was logged as an error or thrown, and requests to other hosts
	tolerant bool     // failed requests are no faults: the test has made them fail
}

// open starts a browser at the page of an admin listener.
func open(t testing.TB, base string) *tab {
	t.Helper()
	// in a container Chromium has neither a user of its own nor a large /dev/shm
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.DisableGPU, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	p := &tab{t: t, base: base}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	p.ctx, cancel = chromedp.NewContext(ctx, chromedp.WithListener(p.hear))
	t.Cleanup(cancel)
	p.do(command(network.Enable, network.EnableParams{}), command(runtime.Enable, cdp.Empty{}),
		command(cdplog.Enable, cdp.Empty{}), chromedp.EmulateViewport(1400, 900), chromedp.Navigate(base+"/ui/"))
	return p
}

// command is a step that sends one command of the protocol.
func command[P any](c cdp.Command[P, cdp.Empty], params P) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// step is an action without a value.
type step = chromedp.Action[chromedp.Void]

// hear notes what the browser complains of.
func (p *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.fault("thrown: " + fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			p.fault(fmt.Sprintf("console: %s", e.Args[0].Value))
		}
	case *cdplog.EventEntryAdded:
		p.mu.Lock()
		expected := p.tolerant && e.Entry.Source == cdplog.EntrySourceNetwork
		p.mu.Unlock()
		if e.Entry.Level == cdplog.EntryLevelError && !expected {
			p.fault("log: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && "http://"+u.Host != p.base {
			p.fault("asked of another host: " + e.Request.URL)
		}
	}
}

func (p *tab) fault(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, text)
}

// tolerate has requests that fail be no faults from now on.
func (p *tab) tolerate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tolerant = true
}

// quiet fails the test if there were faults.
func (p *tab) quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Error(f)
	}
	p.faults = nil
}

func (p *tab) do(steps ...step) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("%v; the page: %s", err, p.text())
	}
}

// text returns what the page says, or why that is not known.
func (p *tab) text() string {
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// value returns what an expression comes to.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// view goes to a view and waits until it says so.
func (p *tab) view(hash, says string) {
	p.t.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = %q; null", hash)))
	p.says(says)
}

// says waits until the page says a text.
func (p *tab) says(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience/2)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingTimeout(patience/2),
		chromedp.WithPollingInterval(50*time.Millisecond))); err != nil {
		p.t.Fatalf("waiting for %s: %v; the page: %s", expression, err, p.text())
	}
}

// press gives a control the focus and presses a key.
func (p *tab) press(selector, key string) {
	p.t.Helper()
	p.do(chromedp.Focus(selector), chromedp.KeyEvent(key))
}

// demo starts the demo ensemble.
func demo(t testing.TB, args ...string) (process *program.Program, data, admin string) {
	t.Helper()
	chromium(t) // before a binary is built for nothing
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	process, err = program.Start(binary, append([]string{"demo", "--listen", "127.0.0.1:0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(process.Kill)
	m, err := process.Await(`(?s)data +(http://\S+) .*admin +(http://\S+) `, patience)
	if err != nil {
		t.Fatalf("%v: %s", err, process.Output())
	}
	return process, m[1], strings.TrimSpace(m[2])
}
