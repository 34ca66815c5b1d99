package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// offered returns how many requests specialists were to answer, and how many of them got a place.
func (b *bubble) offered() map[string][2]float64 {
	of := map[string][2]float64{}
	for _, sp := range []string{"debug", "systems"} {
		label := fmt.Sprintf("specialist=%q", sp)
		of[sp] = [2]float64{b.Metric("http://admin", "octet_specialist_offered_total", label),
			b.Metric("http://admin", "octet_specialist_admitted_total", label)}
	}
	return of
}

// A specialist starves of which many requests get no place: not one whose requests its second choice answers, and not
// one that is sent what no place would help, what is only counted, or what is only explained.
func TestWhatASecondChoiceAnswersIsOfferedToIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, choiceEngines())
		b.Serve(twoChoices, "specialists[0].scheduler.max_waiting=0", "limits.max_queue_wait=2s")
		doubting(t, b.App)
		time.Sleep(3 * time.Second)
		b.occupy()
		const path = "/v1/chat/completions"
		before := b.offered()
		for _, c := range []struct {
			path, body string
			by         string // "" is refused
			want       map[string][2]float64
		}{
			{path, hesitant(20, "", ""), "systems", map[string][2]float64{"systems": {1, 1}}},
			{path, chat("debug", 20, true, "x"), "", map[string][2]float64{"debug": {1, 0}}},
			{path, chat("systems", 20, true, "x"), "systems", map[string][2]float64{"systems": {1, 1}}},
			{path, chat("systems", 5000, true, "x"), "", nil},
			{path, `{"model":"systems"}`, "", nil},
			{"/v1/messages/count_tokens", chat("debug", 20, false, "x"), "debug", nil},
			{"/v1/route", chat("debug", 20, false, "x"), "", nil},
		} {
			got := b.reply(c.path, c.body)
			if got.by != c.by && (c.by != "" || got.status == http.StatusOK && !strings.HasSuffix(c.path, "route")) {
				t.Errorf("%s %s: %d by %q, want %q: %s", c.path, c.body, got.status, got.by, c.by, got.text)
			}
			synctest.Wait()
			now := b.offered()
			came := map[string][2]float64{}
			for sp, n := range now {
				if d := [2]float64{n[0] - before[sp][0], n[1] - before[sp][1]}; d != [2]float64{} {
					came[sp] = d
				}
			}
			if before = now; !maps.Equal(came, c.want) {
				t.Errorf("%s %s: offered and admitted %v, want %v", c.path, c.body, came, c.want)
			}
		}
	})
}
