package sse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Streams are made of what engines send, with every member in a random place, whitespace and line ends of all kinds,
// and now and then something wrong.
func TestRandomStreamsAgreeWithTheOracleHoweverCut(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 2))
		checkStream(t, []byte(randomStream(rng)), seed, 2000)
	}
}

func randomStream(rng *rand.Rand) string {
	var b strings.Builder
	style := rng.IntN(4)
	for range rng.IntN(12) {
		end := []string{"\n", "\r\n", "\r"}[rng.IntN(3)]
		if style < 3 {
			end = "\n"
		}
		b.WriteString(randomEvent(rng, end))
		b.WriteString(end)
	}
	s := b.String()
	if rng.IntN(4) == 0 {
		s = s[:rng.IntN(len(s)+1)]
	}
	return s
}

func randomEvent(rng *rand.Rand, end string) string {
	space := pick(rng, " ", " ", " ", "")
	switch rng.IntN(30) {
	case 0:
		return ": ping" + end
	case 1:
		return "id: 7" + end + "data:" + space + randomChunk(rng) + end
	case 2:
		return "data:" + space + strings.Replace(randomChunk(rng), ",", ","+end+"data: ", 1) + end
	case 3:
		return pick(rng, "data: [DONE]", "data:[DONE]", "data: {\"error\":{\"message\":\"m\",\"code\":1}}",
			"event: error"+end+"data: {}", "data: oops", "<p>", "data: 7", "data: "+strings.Repeat("x", 2000)) + end
	}
	return "data:" + space + randomChunk(rng) + end
}

func randomChunk(rng *rand.Rand) string {
	members := []string{`"id":"c"`, `"model":"m"`, `"created":` + fmt.Sprint(rng.IntN(2))}
	choices := make([]string, rng.IntN(10)/4)
	for i := range choices {
		choices[i] = randomChoice(rng, i)
	}
	if len(choices) == 0 && rng.IntN(3) > 0 {
		choices = []string{randomChoice(rng, 0)}
	}
	members = append(members, `"choices":[`+strings.Join(choices, ",")+`]`)
	if rng.IntN(4) == 0 {
		members = append(members,
			`"usage":`+pick(rng, "null", `{"prompt_tokens":3,"completion_tokens":2}`,
				`{"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}`))
	}
	if rng.IntN(6) == 0 {
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return "{" + strings.Join(members, pick(rng, ",", ",", ", ")) + "}"
}

func randomChoice(rng *rand.Rand, index int) string {
	text := pick(rng, "a", "a", "bc", "", `\n`, `\"}`, `\\`, `\u00e9`, "é", "😀", `{\"content\":\"x\"}`, "\x80")
	field := pick(rng, "content", "content", "content", "reasoning_content", "reasoning", "refusal", "role")
	said := fmt.Sprintf(`"delta":{"%s":"%s"}`, field, text)
	switch rng.IntN(10) {
	case 0:
		said = fmt.Sprintf(`"text":"%s"`, text)
	case 1:
		said = `"delta":{"tool_calls":` + pick(rng, "[]", "[{}]", "null") + `}`
	}
	members := []string{fmt.Sprintf(`"index":%d`, index), said,
		`"finish_reason":` + pick(rng, "null", "null", "null", `"stop"`, `""`)}
	if rng.IntN(6) == 0 {
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	}
	return "{" + strings.Join(members[:3-rng.IntN(2)], ",") + "}"
}

func pick(rng *rand.Rand, list ...string) string { return list[rng.IntN(len(list))] }
