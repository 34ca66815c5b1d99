package load

import (
	"fmt"
	"strings"
)

// variants is how many different prompts a load has: half of each is common to all, the rest its own.
const variants = 32

const line = "template <typename T, std::size_t N> constexpr auto lane(const std::array<T, N>& in) -> std::array<T, N>; // "

// Chat returns chat requests whose bodies are about size bytes long.
func Chat(model string, size int, stream bool) [][]byte {
	all := make([][]byte, variants)
	for i := range all {
		body := chatBody(model, size, stream, i)
		all[i] = fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nUser-Agent: bench\r\nAccept: */*\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	return all
}

func chatBody(model string, size int, stream bool, variant int) string {
	most := 16
	if stream {
		most = 8192 // more than any stream here is read for: an engine that says more than it was asked is no longer believed
	}
	frame := `{"model":"` + model + `","stream":` + fmt.Sprint(stream) + `,"max_tokens":` + fmt.Sprint(most) + `,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`
	room := max(size-len(frame), 2)
	return fmt.Sprintf(frame, text(room/2, "common"), text(room-room/2, fmt.Sprint("variant ", variant)))
}

func text(size int, mark string) string {
	unit := line + mark + `\n`
	out := strings.Repeat(unit, size/len(unit))
	return out + strings.Repeat("x", size-len(out))
}
