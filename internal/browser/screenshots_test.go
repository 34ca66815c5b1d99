package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "folder that TestScreenshots writes to; empty writes none")

// busy asks the demo from several clients until ctx ends.
func busy(ctx context.Context, t testing.TB, data string) *sync.WaitGroup {
	clients := new(sync.WaitGroup)
	for client := range 6 {
		clients.Go(func() {
			for i := client; ctx.Err() == nil; i++ {
				ask(t, data, prompts[i%5]+fmt.Sprint(" ", i%40), []string{"", "review", "codegen"}[i%3], i%4 != 0)
			}
		})
	}
	return clients
}

// shoot writes the window as a picture.
func (p *tab) shoot(name string, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(1280, height))
	var picture []byte
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		shot, err := cdp.Call(ctx, t, page.CaptureScreenshot,
			page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
		picture = shot.Data
		return err
	}))
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func theme(name string) step {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
}

// make screenshots: the page over the demo ensemble, with six clients that ask it.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots names no folder: make screenshots")
	}
	args := []string{"--admin", "127.0.0.1:0", "--step", "6ms", "--set", "shadow.tally_interval=2s"}
	for _, intent := range []string{"codegen", "review"} { // all get a second opinion
		args = append(args, "--set", "intents."+intent+".shadow_threshold=0.99")
	}
	for i := range 16 { // pools that a few clients can be seen in
		args = append(args, "--set", fmt.Sprintf("specialists[%d].replicas[%d].blocks=128", i/2, i%2))
	}
	_, data, admin := demo(t, args...)
	ctx, stop := context.WithCancel(t.Context())
	clients := busy(ctx, t, data)
	defer clients.Wait()
	defer stop()
	p := open(t, admin)
	p.do(theme("light"))
	p.says("replicas serving")
	p.until(`(document.querySelector("figure.chart")?.model.columns[0].length ?? 0) >= 15`)
	p.shoot("overview-light", 1180)
	p.do(theme("dark"))
	p.until(`matchMedia("(prefers-color-scheme: dark)").matches`)
	p.shoot("overview-dark", 1180)
	p.view("#/decisions", "since it began")
	p.until(`document.querySelectorAll("tbody tr").length >= 15 &&
		/[1-9][0-9,]* since it began/.test(document.body.innerText)`)
	p.shoot("decisions-dark", 800)
	p.do(theme("light"))
	p.view("#/receipt/"+ask(t, data, prompts[0], "review", true), "What was delivered")
	p.shoot("receipt", 1340)
	p.view("#/calibration", "Second opinions")
	p.until(`document.querySelector("svg.diagram .dot") !== null`)
	p.shoot("calibration", 1400)
}
