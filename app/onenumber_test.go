package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/gateway/receipt"
	"octet/routing/index"
)

// toldCached asks, and returns what the head, the receipt and the engine say was cached of the prompt; below 0 is
// nothing.
//
//nolint:lll // raw text that cannot be broken
func (b *bubble) toldCached(q customer) (head, predicted, delivered int) {
	b.T.Helper()
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body())
	if err != nil {
		b.T.Fatal(err)
	}
	if a := q.read(resp); a.failed != "" {
		b.T.Fatal(a.failed)
	}
	head = -1
	if v := resp.Header.Get("X-Cached-Tokens"); v != "" {
		head, _ = strconv.Atoi(v)
	}
	var r receipt.Receipt
	if err := json.Unmarshal([]byte(b.Read("http://data/v1/receipts/"+resp.Header.Get("X-Receipt-Id"))), &r); err != nil {
		b.T.Fatal(err)
	}
	delivered = -1
	last := r.Attempts[len(r.Attempts)-1]
	if last.DeliveredTokens != nil {
		delivered = *last.DeliveredTokens
	}
	time.Sleep(time.Second) // its events are here
	return head, last.PredictedTokens, delivered
}

func aloneBubble(t *testing.T, tokenizer string) *bubble {
	b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1,
		Step: 20 * time.Millisecond}})
	b.Serve(strings.NewReplacer("WAIT", "30s", "tokenizer: builtin", "tokenizer: "+tokenizer).Replace(oneplace))
	time.Sleep(time.Second)
	return b
}

// What the head predicts is what the receipt says was predicted: the index's number, also where a specialist has one
// replica, so that there is nothing to choose; and with exact tokens and events it is what the engine delivers, 0 after
// its cache was cleared.
func TestThePredictionIsOneNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := aloneBubble(t, "builtin")
		q := customer{id: "one", model: "debug", text: sureOfDebug, words: 500, tokens: 20}
		for i, want := range []bool{false, true, true} {
			head, receipt, delivered := b.toldCached(q)
			if head != receipt || head != delivered || want != (head > 0) {
				t.Errorf("%d: head %d, receipt %d, delivered %d", i, head, receipt, delivered)
			}
		}
	})
}

// A cache that its engine has cleared is empty for the Gate too, and for what is told to clients; an engine's next life
// likewise.
func TestTheGateHearsCleared(t *testing.T) {
	for name, batch := range map[string]index.Batch{
		"cleared": {Ops: []index.Op{{Kind: index.Clear}}}, "another life": {Epoch: 1, Seq: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := aloneBubble(t, "builtin")
				q := customer{id: "one", model: "debug", text: sureOfDebug, words: 500, tokens: 20}
				b.toldCached(q)
				rep := b.Replica("debug-0")
				if rep.Gate.Stats().Cached == 0 {
					t.Fatal("the Gate knows nothing of the prompt")
				}
				at := b.App.Fabric().Index().Host(rep.Host)
				batch.Host, batch.Epoch = rep.Host, batch.Epoch+at.Epoch
				if batch.Seq == 0 {
					batch.Seq = at.LastSeq + 1
				}
				if out := b.App.Fabric().Beliefs().Apply(batch); out != index.Applied {
					t.Fatal(out)
				}
				if n := rep.Gate.Stats().Cached; n != 0 {
					t.Errorf("the Gate still takes %d blocks to be cached", n)
				}
				if head, receipt, _ := b.toldCached(q); head != 0 || receipt != 0 {
					t.Errorf("head %d, receipt %d of a cache that was cleared", head, receipt)
				}
				if err := rep.Gate.Check(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Where chunks of text stand for tokens a prediction is told in the engine's tokens, once it has said how many its
// prompts have, and not told before.
func TestAPredictionOfTextIsInTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := aloneBubble(t, "none")
		q := customer{id: "one", model: "debug", text: sureOfDebug, words: 500, tokens: 20}
		if head, receipt, _ := b.toldCached(q); head > 0 || receipt > 0 {
			t.Errorf("of a new prompt: head %d, receipt %d", head, receipt)
		}
		for range 3 {
			head, receipt, delivered := b.toldCached(q)
			if head != receipt || head < delivered-32 || head > delivered+32 {
				t.Errorf("head %d, receipt %d, delivered %d", head, receipt, delivered)
			}
		}
	})
}
