package engine_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"octet/engine"
)

const sample = `template <typename T, std::size_t N>
class ring_buffer {
public:
    bool push(T value) noexcept {
        const auto head = head_.load(std::memory_order_relaxed);
        const auto next = (head + 1) % N;
        if (next == tail_.load(std::memory_order_acquire)) {
            return false;  // full: 1024 entries at most
        }
        slots_[head] = std::move(value);
        head_.store(next, std::memory_order_release);
        return true;
    }
private:
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
    std::array<T, N> slots_;
};
`

func pieces(text string) (out []string) {
	for rest := []byte(text); len(rest) > 0; {
		n := engine.Piece(rest)
		out = append(out, string(rest[:n]))
		rest = rest[n:]
	}
	return out
}

func TestPieceSplitsAsAGPTPreTokenizerDoes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"int main() {}", []string{"int", " main", "()", " {}"}},
		{"for (i = 12345;", []string{"for", " (", "i", " =", " ", "123", "45", ";"}},
		{"concurrency", []string{"concurre", "ncy"}},
		{" concurrency", []string{" concurr", "ency"}},
		{"\n    return", []string{"\n   ", " return"}},
		{strings.Repeat(" ", 12) + "x", []string{"        ", "   ", " x"}},
		{strings.Repeat(" ", 9), []string{"        ", " "}},
		{"a\n", []string{"a", "\n"}},
		{"mutex_ m_;", []string{"mutex_", " m_", ";"}},
		{"⟦r-1:0⟧⟦r-1:1⟧", []string{"⟦r-1:0⟧", "⟦r-1:1⟧"}},
		{"say ⟦r:0⟧ now", []string{"say", " ", "⟦r:0⟧", " now"}},
		{"x⟦r:0⟧", []string{"x", "⟦r:0⟧"}},
		{"⟦a ⟦b⟧", []string{"⟦a", " ", "⟦b⟧"}},
		{"<|user|>\nhi", []string{"<|", "user", "|>", "\n", "hi"}},
	} {
		if got := pieces(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCodeComesToAboutFourBytesAToken(t *testing.T) {
	n := len(engine.Tokenize(nil, []byte(sample)))
	if perToken := float64(len(sample)) / float64(n); perToken < 3.3 || perToken > 4.7 {
		t.Errorf("%d bytes in %d tokens: %.2f bytes a token", len(sample), n, perToken)
	}
}

func TestTokenizeDoesNotAllocate(t *testing.T) {
	text, dst := []byte(sample), make([]uint32, 0, len(sample))
	if n := testing.AllocsPerRun(20, func() { dst = engine.Tokenize(dst[:0], text) }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func TestEqualPiecesHaveEqualIDsAndOthersDiffer(t *testing.T) {
	seen := map[uint32]string{}
	for i := range 200_000 {
		piece := string([]byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676%26), byte('a' + i/17576%26)})
		id := engine.TokenID([]byte(piece))
		if id>>31 != 0 {
			t.Fatalf("%q: id %#x has 32 bits", piece, id)
		}
		if other, ok := seen[id]; ok && other != piece && i < 10_000 {
			t.Fatalf("%q and %q have the same id", piece, other)
		}
		seen[id] = piece
	}
	if len(seen) < 199_950 { // 31 bits: about 9 collisions among 200,000 are to be expected
		t.Errorf("%d ids for 200000 pieces", len(seen))
	}
}

// slowPieces says with regular expressions what Piece says with loops.
func slowPieces(text string) (out []string) {
	for text != "" {
		n := slowPiece(text)
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}

// Bytes are mapped to Latin-1 first, so that the expressions see bytes: ⟦ becomes "\u00e2\u009f\u00a6".
var slowForms = []*regexp.Regexp{
	regexp.MustCompile("^\u00e2\u009f\u00a6(?s:.*?)\u00e2\u009f\u00a7"),
	regexp.MustCompile(`^[0-9]{1,3}`),
	regexp.MustCompile(`^ ?[A-Za-z_\x{80}-\x{ff}]+`),
	regexp.MustCompile(`^ ?[^A-Za-z_\x{80}-\x{ff}0-9\s\x0b]+`),
	regexp.MustCompile(`^[\s\x0b]+`),
}

func latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func slowPiece(text string) int {
	const open = "\u00e2\u009f\u00a6"
	l := latin1(text[:min(len(text), 400)])
	length := func(i int) int { return len([]rune(slowForms[i].FindString(l))) }
	if n := length(0); n > 0 && n <= 192 {
		if inner := text[3 : n-3]; !strings.ContainsAny(inner, " \t\n\v\f\r") && !strings.Contains(inner, "⟦") {
			return n
		}
	}
	if n := length(1); n > 0 {
		return n
	}
	if n := length(2); n > 0 {
		from := strings.IndexFunc(slowForms[2].FindString(l), func(r rune) bool { return r != ' ' })
		m := []rune(slowForms[2].FindString(l))
		if at := strings.Index(string(m[1:]), open); at >= 0 {
			n = 1 + len([]rune(string(m[1:])[:at]))
		}
		if n > from { // else the space stands alone before a mark
			return min(n, 8)
		}
		return 1
	}
	if n := length(3); n > 0 {
		return min(n, 8)
	}
	n := length(4)
	if next := text[n:]; next != "" && text[n-1] == ' ' && n > 1 && !strings.HasPrefix(next, "⟦") &&
		(next[0] < '0' || next[0] > '9') {
		n--
	}
	return min(n, 8)
}

// alphabet is made of what makes boundaries.
var alphabet = []string{"a", "foo", "_", " ", " ", "  ", "\n", "\t", "7", "1234", "(", ");", "é", "⟦", "⟧",
	"⟦r:1⟧", "concurrency", "\xe2", "\x9f", "\xff", "\v", ":"}

func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(30) {
		b.WriteString(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

func TestPiecesEqualTheSlowOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		text := randomText(rng)
		if got, want := pieces(text), slowPieces(text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
	}
}

func checkTokenizer(t *testing.T, text string) {
	t.Helper()
	parts := pieces(text)
	if strings.Join(parts, "") != text {
		t.Fatalf("%q: pieces %q do not make the text", text, parts)
	}
	whole := engine.Tokenize(nil, []byte(text))
	at := 0
	for i, p := range parts {
		at += len(p)
		left := engine.Tokenize(nil, []byte(text[:at]))
		both := engine.Tokenize(left, []byte(text[at:]))
		if !slices.Equal(both, whole) {
			t.Fatalf("%q: cut after piece %d (%q) changes the tokens", text, i, p)
		}
	}
}

func TestCuttingAtAPieceBoundaryChangesNoToken(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 800 {
		checkTokenizer(t, randomText(rng))
	}
	checkTokenizer(t, sample)
}

func FuzzTokenize(f *testing.F) {
	f.Add(sample[:200])
	f.Add("a ⟦r:1⟧ ⟦x y⟧\n\n  12345 \xe2\x9f")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2048 {
			return
		}
		checkTokenizer(t, text)
	})
}

func BenchmarkTokenize(b *testing.B) {
	text := []byte(strings.Repeat(sample, 20))
	dst := make([]uint32, 0, len(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = engine.Tokenize(dst[:0], text)
	}
}
