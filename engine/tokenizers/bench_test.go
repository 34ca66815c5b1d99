package tokenizers

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"octet/gateway/wire"
	"octet/kvpool"
	"octet/routing"
	"octet/routing/plugins"
)

// BenchmarkExactTokens is what exact tokens cost a request of 64 KiB in 41 messages, all but the last tenth of which
// was asked before: from the parsed body to tokens and hashes.
func BenchmarkExactTokens(b *testing.B) {
	l, err := Load(bpeFile, "", nil)
	if err != nil {
		b.Fatal(err)
	}
	t := New(kvpool.NewHasher(1)).Edition()
	t.Commit([]Spec{{Specialist: "stl", Source: File, Local: l, Engines: []Engine{{Replica: "r", Host: 1}}}}, 1<<30)
	var head strings.Builder
	head.WriteString(`{"model":"stl","messages":[{"role":"system","content":"Be brief."}`)
	for i := range 36 {
		fmt.Fprintf(&head, `,{"role":%q,"content":%q}`, [2]string{"user", "assistant"}[i%2], turnOf(i))
	}
	var p plugins.Prompt
	i := 0
	for b.Loop() {
		b.StopTimer()
		i++ // every turn is another one
		body := head.String()
		for j := range 4 {
			body += fmt.Sprintf(`,{"role":%q,"content":%q}`, [2]string{"user", "assistant"}[j%2], turnOf(1000*i+j))
		}
		f := routing.Facts{Specialist: "stl", Kind: "chat", Body: []byte(body + "]}")}
		var r wire.Request
		if err := wire.Parse(wire.Chat, f.Body, wire.Limits{}, &r); err != nil {
			b.Fatal(err)
		}
		f.Member = r.Raw
		b.StartTimer()
		p = plugins.Prompt{Tokens: p.Tokens[:0], Hashes: p.Hashes[:0]}
		if err := t.Chain(context.Background(), &f, plugins.Root{Hash: 7, BlockSize: 16}, &p); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(p.Tokens)), "tokens")
}

// turnOf is 1.6 KiB of text and code, another one for each number.
func turnOf(i int) string {
	var out strings.Builder
	for n := 0; out.Len() < 1600; n++ {
		fmt.Fprintf(
			&out, "%d. In line %d of main.cpp, std::vector<std::size_t> v%d(n); is moved from, and then read: why?\n",
			n, i*7+n, i)
	}
	return out.String()
}
