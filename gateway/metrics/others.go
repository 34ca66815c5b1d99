package metrics

import (
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// other is the value of a label that has been folded.
const other = "other"

// foldable returns the fewest labels, those with the most values first, that leave at most most different series once
// they are folded, and the number of these. most is at least 1.
func foldable(all []*dto.Metric, most int) (labels []int, left int) {
	order := make([]int, len(all[0].Label))
	values := make([]int, len(order))
	for i := range order {
		order[i] = i
		values[i] = different(all, func(m *dto.Metric) string { return m.Label[i].GetValue() })
	}
	slices.SortStableFunc(order, func(a, b int) int { return values[b] - values[a] })
	for n := 1; n < len(order); n++ {
		if left := different(all, func(m *dto.Metric) string { return foldedKey(m, order[:n]) }); left <= most {
			return order[:n], left
		}
	}
	return order, 1
}

func different(all []*dto.Metric, key func(*dto.Metric) string) int {
	seen := map[string]struct{}{}
	for _, m := range all {
		seen[key(m)] = struct{}{}
	}
	return len(seen)
}

// foldedKey identifies m within its family once labels are folded.
func foldedKey(m *dto.Metric, labels []int) string {
	var b strings.Builder
	for i, l := range m.Label {
		if slices.Contains(labels, i) {
			b.WriteString(other)
		} else {
			b.WriteString(l.GetValue())
		}
		b.WriteByte(0xff) // in no label value
	}
	return b.String()
}

// sumOthers returns those of all for which own returns true, and behind them the sums of the others under folded
// labels. Without labels the others are left out.
func sumOthers(all []*dto.Metric, labels []int, own func(*dto.Metric) bool) []*dto.Metric {
	kept, sums := make([]*dto.Metric, 0, len(all)), map[string]*dto.Metric{}
	for _, m := range all {
		if own(m) {
			kept = append(kept, m)
			if key := foldedKey(m, labels); key == foldedKey(m, nil) {
				sums[key] = m // something is called "other": one line for both
			}
		}
	}
	for _, m := range all {
		if own(m) || len(labels) == 0 {
			continue
		}
		key := foldedKey(m, labels)
		if sum := sums[key]; sum != nil {
			add(sum, m)
			continue
		}
		m.Label = folded(m.Label, labels)
		sums[key] = m
		kept = append(kept, m)
	}
	return kept
}

// folded returns pairs with the values of labels replaced. Pairs are shared with what is counted, and are not changed.
func folded(pairs []*dto.LabelPair, labels []int) []*dto.LabelPair {
	pairs = slices.Clone(pairs)
	for _, i := range labels {
		pairs[i] = &dto.LabelPair{Name: pairs[i].Name, Value: new(other)}
	}
	return pairs
}

// add adds m to sum: counters, or histograms with the same buckets. What both point at is not changed.
func add(sum, m *dto.Metric) {
	if m.Counter != nil {
		sum.Counter = &dto.Counter{Value: new(sum.Counter.GetValue() + m.Counter.GetValue()),
			CreatedTimestamp: sum.Counter.CreatedTimestamp}
		return
	}
	s, h := sum.Histogram, m.Histogram
	both := &dto.Histogram{
		SampleCount: new(s.GetSampleCount() + h.GetSampleCount()), SampleSum: new(s.GetSampleSum() + h.GetSampleSum()),
		Bucket: make([]*dto.Bucket, len(s.Bucket)), CreatedTimestamp: s.CreatedTimestamp,
	}
	for i, b := range s.Bucket {
		both.Bucket[i] = &dto.Bucket{UpperBound: b.UpperBound,
			CumulativeCount: new(b.GetCumulativeCount() + h.Bucket[i].GetCumulativeCount())}
	}
	sum.Histogram = both
}
