package metrics

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
)

// The series of specialists are those that Prometheus' own counters and histograms would make of the same requests.
func TestSpecialistsAreCountedAsPrometheusWould(t *testing.T) {
	names, rng := []string{"a", "b"}, rand.New(rand.NewPCG(3, 4))
	m, want := New("", "", ""), prometheus.NewRegistry()
	requests := counters(requestsName, requestsHelp, "specialist", "status")
	faults := counters(faultsName, faultsHelp, "specialist")
	tokens := counters("octet_tokens_total", "Tokens, by kind.", "specialist", "kind")
	ttft := histograms("octet_ttft_seconds", "Arrival to first token of streamed answers.", latency[:], "specialist")
	total := histograms("octet_request_duration_seconds", "Arrival to the end of the answer.", latency[:], "specialist")
	want.MustRegister(requests, faults, tokens, ttft, total)
	for _, name := range names {
		m.Specialist(name)
		for _, status := range []string{"200", "500", "502", "503", "504"} {
			requests.WithLabelValues(name, status)
		}
		faults.WithLabelValues(name)
		for _, kind := range []string{"prompt", "completion", "cached"} {
			tokens.WithLabelValues(name, kind)
		}
		ttft.WithLabelValues(name)
		total.WithLabelValues(name)
	}
	for i := range 3000 {
		sp := m.Specialist(names[rng.IntN(2)])
		r := Ending{Status: []int{200, 200, 503, 499}[rng.IntN(4)], PromptTokens: rng.IntN(5000),
			CompletionTokens: rng.IntN(900), Faulty: i%7 == 0}
		took := time.Duration(rng.ExpFloat64() * float64(time.Second))
		if i < len(latency) {
			took = time.Duration(latency[i] * 1e9) // upon a bound
		}
		r.Total = took
		if i%9 == 0 {
			m.Ended(nil, "", &r)
			requests.WithLabelValues("", strconv.Itoa(r.Status)).Inc()
			continue
		}
		if rng.IntN(2) == 0 {
			r.CachedTokens = rng.IntN(5000)
			tokens.WithLabelValues(sp.name, "cached").Add(float64(r.CachedTokens))
		}
		m.Ended(sp, "", &r)
		sp.FirstToken(took / 2)
		requests.WithLabelValues(sp.name, strconv.Itoa(r.Status)).Inc()
		if r.Faulty {
			faults.WithLabelValues(sp.name).Inc()
		}
		tokens.WithLabelValues(sp.name, "prompt").Add(float64(r.PromptTokens))
		tokens.WithLabelValues(sp.name, "completion").Add(float64(r.CompletionTokens))
		total.WithLabelValues(sp.name).Observe(took.Seconds())
		ttft.WithLabelValues(sp.name).Observe((took / 2).Seconds())
	}
	families := exposed(t, want)
	got := exposed(t, m.registry)
	for name, text := range families {
		if got[name] != text {
			t.Errorf("%s is\n%s\nand should be\n%s", name, got[name], text)
		}
	}
	if len(families) != 5 {
		t.Errorf("%d families are compared", len(families))
	}
}

// A scrape between requests sees as many in the buckets as in the count, and as many answers as durations.
func TestAScrapeSeesWholeRequests(t *testing.T) {
	m := New("", "", "")
	sp := m.Specialist("a")
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range 500 {
				m.Ended(sp, "", &Ending{Status: 200, PromptTokens: 1, Total: time.Duration(i) * time.Millisecond})
			}
		})
	}
	for range 50 {
		e := sp.endings()
		if n, upTo := e.total.upTo(); n != e.ok || n != e.prompt || upTo[60] != n {
			t.Fatalf("%d durations of %d answers with %d tokens, %d of them in buckets", n, e.ok, e.prompt, upTo[60])
		}
	}
	writers.Wait()
}

// exposed is each family as a scrape shows it.
func exposed(t *testing.T, from prometheus.Gatherer) map[string]string {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range families {
		var text bytes.Buffer
		if _, err := expfmt.MetricFamilyToText(&text, f); err != nil {
			t.Fatal(err)
		}
		all[f.GetName()] = text.String()
	}
	return all
}
