package emulator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"octet/engine/emulator"
)

//nolint:lll // raw text that cannot be broken
func Example() {
	e, err := emulator.New(emulator.Config{Name: "debug-0", Model: "debug"})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- e.Run(ctx) }()
	server := httptest.NewServer(e.Handler())

	req, _ := http.NewRequest("POST", server.URL+"/v1/completions",
		strings.NewReader(`{"model":"debug","prompt":"why?","max_tokens":3}`))
	req.Header.Set("X-Request-Id", "r7")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		panic(err)
	}
	body, _ := io.ReadAll(resp.Body)
	_, choices, _ := strings.Cut(string(body), `"choices":`)
	fmt.Println(choices)

	server.Close()
	stop()
	fmt.Println(<-stopped)
	// Output:
	// [{"index":0,"text":"⟦r7:0⟧⟦r7:1⟧⟦r7:2⟧","logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":2,"total_tokens":5,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":0}}}
	// context canceled
}
