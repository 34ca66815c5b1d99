package sse

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chunkOf is a chunk as vLLM writes it, with the choice's members given.
func chunkOf(choice string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,` +
		choice + `}]}` + "\n\n"
}

// seeds are streams of every kind: right ones, and one for each way to go wrong.
//
//nolint:lll // raw text that cannot be broken
func seeds(t testing.TB) []string {
	t.Helper()
	list := []string{
		"", "\n", "\r", "\r\n", "\n\n\n", ": ping\n\n", "data:\n\n", "data: \n\n", "data\n\n",
		"event: x\nid: 7\nretry: 10\n\n", "data: [DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE] \r\r",
		"\xEF\xBB\xBFdata: {}\n\ndata: [DONE]\n\n", "\xEF\xBB\xBF\ndata: {}\n\n",
		"data: {}\n\n\xEF\xBB\xBFdata: {}\n\n",
		"data: {\"choices\":\ndata: [{\"text\":\"a\"}]}\n\n", "data: {\"choices\":[{\"text\":\"a\ndata: b\"}]}\n\n",
		":c\ndata: {}\n:d\n\n",
		"data: {}\r\n\r\ndata: {}\r\rdata: {}\n\n", "data: {}\r\n\rdata: {}\n\r\ndata: {}\n\r", "data: 1\n\n",
		"data: [1]\n\n", "data: null\n\n", "data: \"x\"\n\n", "data: {\n\n", "data: {} {}\n\n",
		"data:  {}\n\n", "data: {garbage}\n\n", "<html>oops</html>\n\n", "hello world\n\n", "\xff\xfe\n\n",
		"unknown: x\n\ndata: {}\n\n", "data: {}", "data: {}\n",
		"data: {\"error\":{\"message\":\"out of \\\"memory\\\"\",\"type\":\"internal\",\"code\":500}}\n\ndata: " +
			"[DONE]\n\n", "data: {\"error\":null}\n\n", "data: {\"error\":\"boom\"}\n\n", "data: {\"error\":false}\n\n",
		"data: {\"object\":\"error\",\"message\":\"m\",\"type\":\"t\",\"code\":400}\n\n",
		"event: error\ndata: {\"message\":\"m\"}\n\n",
		"error: {\"code\":500,\"message\":\"m\",\"type\":\"server_error\"}\n\n", "event: error\n\n",
		chunkOf(`"delta":{"role":"assistant","content":""}`) + chunkOf(`"delta":{"content":"a"}`) +
			chunkOf(`"delta":{"content":"b\""}`) + chunkOf(`"delta":{"content":""},"finish_reason":"stop"`) +
			"data: [DONE]\n\n",
		chunkOf(`"delta":{"content":"a"}`) + chunkOf(`"delta":{"content":"b","content2":"c"}`) +
			chunkOf(`"delta":{"content":"\\"}`) + chunkOf(`"delta":{"content":"\"},"x":{"content":"y"}`),
		chunkOf(`"delta":{"reasoning_content":"hm"}`) + chunkOf(`"delta":{"reasoning_content":"so"}`) +
			chunkOf(`"delta":{"reasoning":"x","content":"y"}`) + chunkOf(`"delta":{"content":"z"}`),
		chunkOf(`"delta":{"tool_calls":[{"index":0}]}`) + chunkOf(`"delta":{"tool_calls":[]}`) +
			chunkOf(`"delta":{"tool_calls":[ ]}`) + chunkOf(`"delta":{"function_call":{"name":"f"}}`) +
			chunkOf(`"delta":{"refusal":"no"}`),
		chunkOf(`"text":"\ud83d\ude00 é 😀"`) + chunkOf(`"text":"\ud800"`) + chunkOf("\"text\":\"\xff\"") +
			chunkOf("\"text\":\"\t\""),
		chunkOf(`"delta":{"content":"a"},"finish_reason":"length"`) +
			chunkOf(`"delta":{"content":"b"},"finish_reason":"\u006cength"`) + chunkOf(`"delta":{"c\u006fntent":"c"}`) +
			chunkOf(`"delta":{"content":7}`),
		`data: {"choices":[{"index":1,"text":"a"},{"index":0,"text":"b"}]}` + "\n\n" +
			`data: {"choices":[{"text":"a","index":1}]}` + "\n\n" + `data: {"choices":[{"text":"b","index":1}]}` +
			"\n\n",
		`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":4}}}` + "\n\ndata: [DONE]\n\n",
		`data: {"usage":{"prompt_tokens":5.5,"completion_tokens":-1,"prompt_tokens_details":null}}` + "\n\n" +
			`data: {"usage":null}` + "\n\n" + `data: {"usage":[1]}` + "\n\n",
		`data: {"choices":[{"index":0,"text":"a"}],"usage":{"completion_tokens":1}}` + "\n\n" +
			`data: {"choices":[{"index":0,"text":"b"}],"usage":{"completion_tokens":2}}` + "\n\n",
		strings.ReplaceAll(chunkOf(`"delta":{"content":"a"}`)+chunkOf(`"delta":{"content":"b"}`), "\n", "\r\n"),
		strings.ReplaceAll(chunkOf(`"delta":{"content":"a"}`)+chunkOf(`"delta":{"content":"b"}`), "\n", "\r"),
		chunkOf(`"delta":{"content":"` + strings.Repeat("x", 600) + `"}`),
		chunkOf(`"delta":{"content":"a"},"pad":"`+strings.Repeat("x", 600)+`"`) + chunkOf(`"delta":{"content":"a"}`),
		// What the shape of one chunk must not hide in the next.
		chunkOf(`"delta":{"content":"a"},"finish_reason":"stop"`) +
			chunkOf(`"delta":{"content":"a"},"finish_reason":"length","pad":"`+strings.Repeat("x",
				600)+`"`) + chunkOf(`"delta":{"content":"a"},"finish_reason":"stop"`),
		`data: {"choices":[{"text":"a"}],"usage":{"completion_tokens":1}}` + "\n\n" +
			`data: {"usage":{"completion_tokens":2}}` + "\n\n" +
			`data: {"choices":[{"text":"b"}],"usage":{"completion_tokens":1}}` + "\n\n",
		`data: {"choices":[{"text":"a"},{"index":1,"text":"b"}]}` + "\n\n" +
			`data: {"choices":[{"text":"a"},{"index":1,"text":"c"}]}` + "\n\n",
		strings.Repeat(chunkOf(`"pad":"`+strings.Repeat("x", 600)+`","delta":{"content":"abc"}`), 3),
		chunkOf(`"delta":{"content":"a"}`) + "event: error\n" + chunkOf(`"delta":{"content":"b"}`),
		"data: \r\n\r\ndata: {}\r\n\r\n", "data: \r\n\r",
		strings.Repeat(chunkOf(`"delta":{"content":"a"}`), 3) + "data: oops\n\n" + chunkOf(`"delta":{"content":"a"}`),
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded streams", err)
	}
	for _, name := range files {
		recorded, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(recorded))
	}
	return list
}

func FuzzScanner(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(s, uint64(i), 400)
		f.Add(s, uint64(i), 1<<20)
	}
	f.Fuzz(func(t *testing.T, input string, seed uint64, most int) {
		checkStream(t, []byte(input), seed, max(1, most))
	})
}

// checkStream holds the scanner to the oracle on the whole input, and to itself on every way to cut it.
func checkStream(t *testing.T, input []byte, seed uint64, most int) {
	t.Helper()
	var s Scanner
	got := fed(&s, most, input)
	if want, ok := slow(input, most); ok {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-oracle +scanner):\n%s", input, diff)
		}
	}
	if !strings.HasPrefix(string(input), got.Out) {
		t.Fatalf("%q: gave out %q", input, got.Out)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, mean := range []int{1, 3, 40, 200} {
		if cut := fed(&s, most, pieces(rng, input, mean)...); cut != got {
			t.Fatalf("%q cut into about %d bytes each (-whole +cut):\n%s", input, mean, cmp.Diff(got, cut))
		}
	}
}

// pieces cuts input into pieces of mean bytes or so, empty ones among them; mean 1 is every byte alone.
func pieces(rng *rand.Rand, input []byte, mean int) (list [][]byte) {
	for len(input) > 0 {
		n := 1
		if mean > 1 {
			n = min(len(input), rng.IntN(2*mean))
		}
		list = append(list, append([]byte(nil), input[:n]...))
		input = input[n:]
	}
	return list
}
