package model

import (
	"fmt"
	"strings"
	"testing"
)

const sampleCode = `The references that add hands out dangle after a while. Should I keep indices, or use std::deque?

struct Panel {
    std::vector<Widget> widgets;
    Widget& add(std::string name) {
        widgets.push_back(Widget{std::move(name)}); // may move all of them
        return widgets.back();
    }
    int count() const { return static_cast<int>(widgets.size()); }
};
`

func BenchmarkForward(b *testing.B) {
	m, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	out := make([]float64, len(m.Labels()))
	for _, size := range []int{200, 1024, 16384, 1 << 20} {
		text := []byte(strings.Repeat(sampleCode, size/len(sampleCode)+1)[:size])
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				m.Probabilities(text, out)
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		a, err := Decode(builtin)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := New(a); err != nil {
			b.Fatal(err)
		}
	}
}
