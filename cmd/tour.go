package cmd

import (
	"fmt"
	"io"
	"strings"

	"octet/config"
)

// printTour tells a newcomer what is running and what to try: every line can be pasted as it is.
func printTour(out io.Writer, data, admin string, cfg *config.Config) {
	names := make([]string, len(cfg.Specialists))
	for i, sp := range cfg.Specialists {
		names[i] = sp.Name
	}
	fmt.Fprintf(out, `
Octet is up: %[1]d specialists, %[2]d emulated engines.
  data   http://%[3]s    (OpenAI API)
  admin  http://%[4]s    (/admin/state, /metrics)
  specialists: %[5]s

Try:

1. Let the router choose. The sanitizer trace in the prompt sends it to debug:
   curl -sN http://%[3]s/v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"octet","stream":true,"max_tokens":48,"messages":[{"role":"user","content":"==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000014\n    #0 0x4f8b1a in Node::next() list.cpp:42:10\nWhat is wrong?"}]}'

2. Say what you want in headers, and see what comes back in them:
   curl -si http://%[3]s/v1/chat/completions -H 'Content-Type: application/json' -H 'X-Intent: build-fix' -H 'X-Priority: 10' -H 'X-Deadline-Ms: 20000' -H 'X-Explain: 1' -d '{"max_tokens":32,"messages":[{"role":"user","content":"undefined reference to vtable for Shape"}]}'

3. Ask why, without running anything:
   curl -s http://%[3]s/v1/route -H 'Content-Type: application/json' -d '{"messages":[{"role":"user","content":"template <class T, class = std::enable_if_t<std::is_integral_v<T>>> auto f(T) -> decltype(std::declval<T&>() + 1);\ntemplate <class... Ts> requires (std::integral<Ts> && ...) void g(Ts... ts);\ntemplate <class T> concept Addable = requires(T a) { a + a; };"}]}'

Stop with Ctrl-C.
`, len(cfg.Specialists), countReplicas(cfg), data, admin, strings.Join(names, ", "))
}
