package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// hostile is markup that runs where a page takes text for markup.
const hostile = `<img src=x onerror="window.struck=1"><script>window.struck=1</script>"'&lt;`

var prompts = []string{
	"template <class T> concept C = requires(T a) { a + a; }; why does the overload not win?",
	"==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014\n#0 in Node::next() list.cpp:42",
	"undefined reference to `vtable for Shape'", "std::lower_bound over a list is slow: what else is there?",
	"two threads take the mutexes in another order and hang", hostile,
}

// ask sends one chat and returns the id of its receipt.
func ask(t testing.TB, data, prompt, intent string, stream bool) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"model": "octet", "max_tokens": 24, "stream": stream,
		"messages": []any{map[string]any{"role": "user", "content": prompt}}})
	if err != nil {
		t.Fatal(err)
	}
	url := data + "/v1/chat/completions"
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if intent != "" {
		r.Header.Set("X-Intent", intent)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, text)
	}
	return resp.Header.Get("X-Receipt-Id")
}

// Issue 22: every view shows what the demo ensemble does, without a complaint of the browser and without a request to
// another host.
func TestEveryViewShowsTheDemo(t *testing.T) {
	_, data, admin := demo(t, "--admin", "127.0.0.1:0", "--step", "2ms", "--set", "shadow.tally_interval=100ms")
	var id string
	for i := range 12 {
		id = ask(t, data, prompts[i%len(prompts)], []string{"", "review", "codegen"}[i%3], i%2 == 0)
	}
	p := open(t, admin)
	p.says("all quiet")
	for _, name := range []string{"template", "16 of 16", "first token p50", "cached, may go"} {
		p.says(name)
	}
	p.until(`document.querySelectorAll("figure.chart canvas").length === 2`)
	p.until(`document.querySelector("#link").textContent.startsWith("live")`)
	p.view("#/specialist/debug", "What it promises, and keeps")
	p.says("debug-0")
	p.view("#/replica/debug-0", "What is known of its cache")
	p.says("last seq")
	p.view("#/receipt/"+id, "What was delivered")
	for _, title := range []string{"What was asked", "What was decided", "What was considered", "What was tried"} {
		p.says(title)
	}
	p.view("#/receipt/none", "receipt_not_found")
	p.view("#/calibration", "requests by the classifier")
	p.view("#/playground", "What would happen?")
	p.do(chromedp.SendKeys(`textarea[name=prompt]`, prompts[0]), chromedp.Click(`form.play button`))
	p.says("What admission reckons")
	p.until(`document.querySelectorAll(".bars li").length >= 8`)
	p.view("#/decisions", "since it began")
	id = ask(t, data, prompts[1], "review", true)
	p.until(fmt.Sprintf(`document.querySelector('a[href="#/receipt/%s"]') !== null`, id))
	p.press(`a[href="#/receipt/`+id+`"]`, kb.Enter)
	p.says("What was delivered")
	p.view("#/doctor", "16 of 16 replicas were asked")
	p.says("Nothing was found.")
	p.do(chromedp.Click(`#examine`))
	p.says("none fails")
	p.view("#/", "all quiet")
	p.tolerateNothingBut("receipt_not_found is asked for above", "/admin/receipts/none")
	p.quiet()
}

// tolerateNothingBut forgets the one failed request that a test has asked for.
func (p *tab) tolerateNothingBut(_, path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var rest []string
	for _, f := range p.faults {
		if !strings.HasSuffix(f, path) {
			rest = append(rest, f)
		}
	}
	p.faults = rest
}

// A wrong token is told; the right one shows the page, also the stream; so is a gateway that ends and comes back.
func TestThePageSaysWhenTheGatewayIsAway(t *testing.T) {
	const token = "a-token-of-operators"
	process, data, admin := demo(t, "--admin", "127.0.0.1:0", "--set", "admin.token="+token)
	p := open(t, admin)
	p.tolerate()
	p.says("This gateway wants its token")
	p.do(chromedp.SendKeys(`#token`, "not the one at all"+kb.Enter))
	p.says("This gateway has another token")
	p.do(chromedp.SendKeys(`#token`, token+kb.Enter))
	p.says("all quiet")
	p.view("#/decisions", "since it began")
	id := ask(t, data, prompts[0], "", true)
	p.until(fmt.Sprintf(`document.querySelector('a[href="#/receipt/%s"]') !== null`, id))
	process.Kill()
	p.says("no answer from the gateway")
	p.says("not connected")
	again, _, back := demo(t, "--admin", strings.TrimPrefix(admin, "http://"), "--set", "admin.token="+token)
	defer again.Kill()
	if back != admin {
		t.Fatalf("it came back at %s, not %s", back, admin)
	}
	p.until(`/the gateway restarted|live/.test(document.querySelector("#link").textContent)`)
	p.says("since it began")
	p.view("#/", "all quiet")
	p.quiet()
}

// The page waits for what it asks no longer than it says, and keeps what was typed.
func TestWhatIsTypedStays(t *testing.T) {
	_, _, admin := demo(t, "--admin", "127.0.0.1:0")
	p := open(t, admin)
	p.view("#/playground", "What would happen?")
	p.do(chromedp.SendKeys(`textarea[name=prompt]`, hostile))
	before := time.Now()
	p.until(`window.asked = (window.asked ?? performance.getEntriesByType("resource").length),
		performance.getEntriesByType("resource").length > window.asked + 1`)
	typed := value[string](p, `document.querySelector("textarea").value`)
	focus := value[bool](p, `document.activeElement.name === "prompt"`)
	if typed != hostile || !focus {
		t.Errorf("after %v the field has %q, focus %v", time.Since(before), typed, focus)
	}
	p.do(chromedp.Click(`form.play button`))
	p.says("What admission reckons")
	if value[bool](p, `window.struck === 1`) {
		t.Error("a prompt ran")
	}
	p.quiet()
}
