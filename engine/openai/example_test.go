package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"

	"octet/engine"
	"octet/engine/openai"
)

// Example streams an answer.
func Example() {
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"text\":\"hello\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer replica.Close()

	client, err := openai.New(openai.Config{URL: replica.URL, Engine: "vllm"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	resp, err := client.Do(context.Background(), &engine.Request{
		Method: "POST", Path: "/v1/completions", Segments: [][]byte{[]byte(`{"prompt":"hi","stream":true}`)},
		Stream: true,
	})
	if err != nil {
		fmt.Println("elsewhere, then:", errors.Is(err, engine.ErrConnect))
		return
	}
	defer resp.Close()
	err = engine.Read(resp, engine.Each(func(piece []byte) error {
		_, err := os.Stdout.Write(piece)
		return err
	}))
	if err != nil {
		fmt.Println("cut short:", err)
	}
	// Output:
	// data: {"choices":[{"text":"hello"}]}
	//
	// data: [DONE]
}
