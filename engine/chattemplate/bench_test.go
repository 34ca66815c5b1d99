package chattemplate

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRender renders a conversation of 64 KiB in 41 messages.
func BenchmarkRender(b *testing.B) {
	var all strings.Builder
	all.WriteString(`[{"role":"system","content":"Be brief."}`)
	for i := range 40 {
		role := [2]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&all, `,{"role":%q,"content":%q}`, role, strings.Repeat("some words of a turn\n", 78))
	}
	all.WriteString("]")
	for _, name := range []string{"chatml", "llama31", "qwen25"} {
		b.Run(name, func(b *testing.B) {
			one, messages := load(b, name), []byte(all.String())
			b.SetBytes(int64(len(messages)))
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				var err error
				if out, err = one.Render(out[:0], Chat{Messages: messages, Open: true, Now: friday}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
