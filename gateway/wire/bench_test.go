package wire

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// chatBody is a chat request of about size bytes: code, as it comes, in the last message.
func chatBody(size int) []byte {
	const line = `for (auto it = std::begin(v); it != std::end(v); ++it) { sum += *it; } // \"running\" total\n`
	head :=
		`{"model":"octet","stream":true,"stream_options":{"include_usage":true},"temperature":0.2,"max_tokens":256,` +
			`"messages":[{"role":"system","content":"You are a C++ expert."},{"role":"user","content":"`
	tail := `"}]}`
	n := max(0, size-len(head)-len(tail)) / len(line)
	return []byte(head + strings.Repeat(line, n) + tail)
}

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("KiB=%d", size), func(b *testing.B) { parseLoop(b, chatBody(size<<10)) })
	}
}

// kinds are bodies of about size bytes whose text is unlike.
//
//nolint:lll // raw text that cannot be broken
func kinds(size int) map[string][]byte {
	chat := func(text string) []byte {
		const frame = `{"model":"octet","stream":false,"max_tokens":16,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`
		n := max(1, (size-len(frame))/2/len(text))
		return fmt.Appendf(nil, frame, strings.Repeat(text, n), strings.Repeat(text, n))
	}
	const turn = `,{"role":"user","content":"and why does the vector copy here and not move it, when a lane is full?\n"}`
	const tool = `,{"type":"function","function":{"name":"read_file","description":"Reads a file.","strict":true,"parameters":{"type":"object",` +
		`"properties":{"path":{"type":"string","description":"where the file is, from the root"},"limit":{"type":"integer","minimum":1}},"required":["path"]}}}`
	return map[string][]byte{
		"code": chat(
			`template <typename T, std::size_t N> constexpr auto lane(const std::array<T, N>& in) -> std::array<T, N>; // common\n`),
		"source": []byte(
			`{"model":"octet","max_tokens":16,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"` + source(size) + `"}]}`),
		"dense": chat(`\tif (n < 0) {\n\t\tthrow std::runtime_error(\"none\");\n\t}\n`),
		"json":  chat(`{\"id\": 17, \"path\": \"src/lane.cc\", \"text\": \"a \\\"lane\\\" is\\nfull\"},\n`),
		"prose": chat(
			`It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness. `),
		"chinese": chat(
			`向量在这里为什么要复制而不是移动？请用简短的话说明原因，并给出改正后的代码。`),
		"french": chat(`Où est passé l'été ? Les élèves, déçus, l'ont cherché à la fenêtre. `),
		"hex":    chat(`\u5411\u91cf\u5728\u8fd9\u91cc\u4e3a\u4ec0\u4e48 ok \ud83d\ude00`),
		"spaces": []byte(strings.NewReplacer(`":`, `": `, `,"`, `, "`, `,{`,
			`, {`).Replace(string(chat("plain words and nothing else. ")))),
		"turns": []byte(`{"model":"octet","max_tokens":16,"messages":[{"role":"system","content":"Be brief."}` +
			strings.Repeat(turn, max(1, size/len(turn))) + `]}`),
		"tools": []byte(`{"model":"octet","messages":[{"role":"user","content":"x"}],"tools":[` + strings.Repeat(tool,
			max(1, size/len(tool)))[1:] + `]}`),
	}
}

// source is text of about size bytes whose escapes come as irregularly as in a program.
func source(size int) string {
	rng := rand.New(rand.NewPCG(8, 9))
	var s strings.Builder
	for s.Len() < size-100 {
		s.WriteString(strings.Repeat(`\t`, rng.IntN(4)))
		for range rng.IntN(9) {
			s.WriteString([]string{"return ", "x := ", "len(buf) ", "if err != nil {", "// and so on ", "}", "f(a, b)",
				`\"word\" `, "== ", `\\n`}[rng.IntN(9+rng.IntN(2))])
		}
		s.WriteString(`\n`)
	}
	return s.String()
}

func BenchmarkParseKinds(b *testing.B) {
	for _, size := range []int{1, 16, 64} {
		all := kinds(size << 10)
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			b.Run(fmt.Sprintf("%s/KiB=%d", kind, size), func(b *testing.B) { parseLoop(b, all[kind]) })
		}
	}
}

// BenchmarkText unescapes what a prompt is hashed from.
func BenchmarkText(b *testing.B) {
	for _, size := range []int{1, 64} {
		all := kinds(size << 10)
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			b.Run(fmt.Sprintf("%s/KiB=%d", kind, size), func(b *testing.B) { textLoop(b, all[kind]) })
		}
	}
}

func textLoop(b *testing.B, body []byte) {
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		b.Fatal(err)
	}
	var text []byte
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		text = text[:0]
		for i := range r.Messages() {
			text = r.AppendText(text, i)
		}
	}
}

func parseLoop(b *testing.B, body []byte) {
	var r Request
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseTokenPrompt(b *testing.B) {
	body := []byte(`{"model":"octet","prompt":[1` + strings.Repeat(",12345", 10_000) + `]}`)
	var r Request
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Completion, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTurns(b *testing.B) {
	body := chatBody(64 << 10)
	var r Request
	var turns []Turn
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(Chat, body, Limits{}, &r); err != nil {
			b.Fatal(err)
		}
		turns = r.Turns(turns[:0])
	}
}

func BenchmarkSplice(b *testing.B) {
	body := chatBody(64 << 10)
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		b.Fatal(err)
	}
	edits := []Edit{{"model", []byte(`"debug"`)}, {"priority", []byte("-3")}}
	var segments [][]byte
	b.ReportAllocs()
	for b.Loop() {
		r.pieces = r.pieces[:0]
		var err error
		if segments, err = r.Splice(edits, segments[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
