package classifier

import (
	"fmt"
	"strings"
	"testing"

	"octet/classifier/model"
)

// prose is a request that no detector decides: the whole cascade is gone through.
const prose = `I have a class that keeps its widgets in a std::vector<Widget> and hands out references to them.
After push_back the references are sometimes dangling. Would std::deque help here, or should I keep indices instead?

struct Panel {
    std::vector<Widget> widgets;
    Widget& add(std::string name) {
        widgets.push_back(Widget{std::move(name)}); // may move all of them
        return widgets.back();
    }
    int count() const { return static_cast<int>(widgets.size()); }
};
`

// builtin is the model that the program carries, for the reference ensemble.
func builtin(tb testing.TB) *model.Bound {
	m, err := model.Builtin()
	if err != nil {
		tb.Fatal(err)
	}
	bound, err := m.Bind(eight, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return bound
}

// BenchmarkClassify is the whole cascade down to the trained model: no detector fires on prose.
func BenchmarkClassify(b *testing.B) {
	for _, size := range []int{200, 1024, 16384, 1 << 20} {
		text := []byte(strings.Repeat(prose, size/len(prose)+1)[:size])
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			c, err := New(Config{Specialists: eight, Fallback: "algo", Detectors: true, Model: builtin(b)})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Classify(Input{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkScan is the scanner alone on 1 MiB of each kind of text, the worst ones included.
func BenchmarkScan(b *testing.B) {
	for name, unit := range map[string]string{
		"prose": prose, "one-letter": "a", "quotes": `"\"`, "apostrophes": "'", "slashes": "/*", "raw": `R"x(`,
		"packs": "...", "hashes": "#",
		"templates": "template<class T>struct x<T>:std::true_type{};", "frames": "#0  0x0 in f () at a.cc:1\n",
		"dollars": "$(AAAA",
	} {
		text := []byte(strings.Repeat(unit, 1<<20/len(unit)+1)[:1<<20])
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				var seen sheet
				scan(text, &seen)
			}
		})
	}
}
