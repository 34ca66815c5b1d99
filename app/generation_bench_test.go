package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"octet/app"
	"octet/config"
	"octet/internal/apptest"
	"octet/routing/plugins"
)

// BenchmarkGeneration makes a generation of so many replicas of which one is another than before.
func BenchmarkGeneration(b *testing.B) {
	for _, n := range []int{16, config.MaxReplicas - 1} {
		b.Run(fmt.Sprintf("replicas=%d", n), func(b *testing.B) {
			f := newFarm(b, 0)
			parse := func(last string) *config.Config {
				text := "specialists: [{name: debug, tokenizer: none, replicas: [" +
					strings.Join(f.entries(n), ", ") + ", " + last + "]}]"
				cfg, err := config.Parse("bench.yaml", []byte(text), config.Options{Presets: plugins.Presets()})
				if err != nil {
					b.Fatal(err)
				}
				return cfg
			}
			last := fmt.Sprintf("{url: 'http://127.0.0.1:%d', blocks: 512, engine: openai, labels: {zone: %%s}}",
				f.port)
			cfgs := []*config.Config{parse(fmt.Sprintf(last, "a")), parse(fmt.Sprintf(last, "b"))}
			a, err := app.New(b.Context(), cfgs[0], app.Options{Log: apptest.Log(b)})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = a.Close() })
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := a.Apply(context.Background(), cfgs[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// entries returns n-1 engines as a configuration lists them.
func (f *farm) entries(n int) (all []string) {
	for i := range n - 1 {
		all = append(all, fmt.Sprintf("{url: 'http://127.0.%d.%d:%d', blocks: 512, engine: openai}", 1+i/250, i%250+1,
			f.port))
	}
	return all
}
