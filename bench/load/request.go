package load

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// variants is how many different prompts a load has: half of each is common to all, the rest its own.
const variants = 32

const line = "template <typename T, std::size_t N> constexpr auto lane(const std::array<T, N>& in) -> std::array<T, N>; // "

// Chat returns chat requests whose bodies are about size bytes long.
func Chat(model string, size int, stream bool) [][]byte {
	all := make([][]byte, variants)
	for i := range all {
		all[i] = post(chatPath, chatBody(model, size, stream, i))
	}
	return all
}

// talks is how many conversations Talk goes on with: more than a bounded memory of prompts holds the ends of.
const talks = 512

// Talk returns requests of about size bytes in 41 messages, of which all but the last four, a tenth of the bytes, are
// the same in all of them.
func Talk(model string, size int) [][]byte {
	const turns = 40
	var head strings.Builder
	fmt.Fprintf(&head, `{"model":%q,"max_tokens":16,"messages":[{"role":"system","content":"Be brief."}`, model)
	turn := func(i, seed int) string {
		role := [2]string{"user", "assistant"}[i%2]
		room := size/turns - len(`,{"role":"","content":""}`) - len(role)
		return fmt.Sprintf(`,{"role":%q,"content":"%s"}`, role, prose(room, 64*seed+i))
	}
	for i := range turns - 4 {
		head.WriteString(turn(i, 0))
	}
	all := make([][]byte, talks)
	for n := range all {
		body := head.String()
		for i := turns - 4; i < turns; i++ {
			body += turn(i, n+1)
		}
		all[n] = post(chatPath, body+"]}")
	}
	return all
}

// prose is size bytes of words, code and numbers, others for each seed.
func prose(size, seed int) string {
	words := strings.Fields(
		"why does the vector copy here and not move it when a lane is full const auto& x = lanes[i]; return " +
			"std::move(x); (see line of) if (n < 0) { throw; }")
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var out strings.Builder
	for out.Len() < size {
		out.WriteString(words[rng.IntN(len(words))])
		out.WriteString([]string{" ", " ", " ", " ", " ", `\n`, fmt.Sprintf(" %d ", rng.IntN(1000))}[rng.IntN(7)])
	}
	return strings.TrimSuffix(out.String()[:size-1], `\`) + "."
}

const chatPath = "/v1/chat/completions"

func post(path, body string) []byte {
	return fmt.Appendf(
		nil, "POST %s HTTP/1.1\r\nHost: gateway\r\nUser-Agent: bench\r\nAccept: */*\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

// most is how many tokens are asked for. Of a stream that is more than it is read for: an engine that says more than it
// was asked is no longer believed.
func most(stream bool) int {
	if stream {
		return 8192
	}
	return 16
}

func chatBody(model string, size int, stream bool, variant int) string {
	frame := `{"model":"` + model + `","stream":` + fmt.Sprint(stream) + `,"max_tokens":` + fmt.Sprint(most(stream)) +
		`,"messages":[{"role":"system","content":"%s"},{"role":"user","content":"%s"}]}`
	room := max(size-len(frame), 2)
	return fmt.Sprintf(frame, text(room/2, "common"), text(room-room/2, fmt.Sprint("variant ", variant)))
}

func text(size int, mark string) string {
	unit := line + mark + `\n`
	out := strings.Repeat(unit, size/len(unit))
	return out + strings.Repeat("x", size-len(out))
}
