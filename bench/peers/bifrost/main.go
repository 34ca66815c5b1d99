// Command bifrost is Bifrost's core behind the least front that its Go interface allows: fasthttp, its own request
// type, its own way of writing answers. Its HTTP transport is not part of what its module offers.
package main

import (
	"bufio"
	"context"
	"flag"
	"log"

	"github.com/bytedance/sonic" //nolint:depguard // what its own transport uses
	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/providers/openai"
	"github.com/maximhq/bifrost/core/schemas"
	"github.com/valyala/fasthttp"
)

func main() {
	listen := flag.String("listen", "", "host:port")
	upstream := flag.String("upstream", "", "host:port of the engine")
	flag.Parse()
	core, err := bifrost.Init(context.Background(), schemas.BifrostConfig{
		Account: account("http://" + *upstream), Logger: bifrost.NewDefaultLogger(schemas.LogLevelError),
		InitialPoolSize: 5000,
	})
	if err != nil {
		log.Fatal(err)
	}
	server := &fasthttp.Server{MaxRequestBodySize: 8 << 20, Handler: func(c *fasthttp.RequestCtx) { chat(core, c) }}
	log.Fatal(server.ListenAndServe(*listen))
}

// account has one provider, the engine, and one key.
type account string

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.OpenAI}, nil
}

func (account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "bench", Value: *schemas.NewSecretVar("bench"), Models: schemas.WhiteList{"*"},
		Weight: 1}}, nil
}

func (url account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	c := &schemas.ProviderConfig{
		NetworkConfig: schemas.NetworkConfig{BaseURL: string(url), DefaultRequestTimeoutInSeconds: 300,
			StreamIdleTimeoutInSeconds: 300, AllowPrivateNetwork: true},
		ConcurrencyAndBufferSize: schemas.ConcurrencyAndBufferSize{Concurrency: 4000, BufferSize: 8000},
	}
	c.CheckAndSetDefaults()
	return c, nil
}

func chat(core *bifrost.Bifrost, c *fasthttp.RequestCtx) {
	var asked openai.OpenAIChatRequest
	if err := sonic.Unmarshal(c.PostBody(), &asked); err != nil {
		c.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	ctx, cancel := schemas.NewBifrostContextWithCancel(context.Background())
	r := asked.ToBifrostChatRequest(ctx)
	r.Provider = schemas.OpenAI
	if asked.Stream != nil && *asked.Stream {
		stream(core, c, ctx, cancel, r)
		return
	}
	defer cancel()
	resp, failed := core.ChatCompletionRequest(ctx, r)
	answer(c, resp, failed)
}

func answer(c *fasthttp.RequestCtx, resp *schemas.BifrostChatResponse, failed *schemas.BifrostError) {
	c.SetContentType("application/json")
	var body []byte
	var err error
	if failed != nil {
		c.SetStatusCode(fasthttp.StatusBadGateway)
		body, err = sonic.Marshal(failed)
	} else {
		body, err = sonic.Marshal(resp)
	}
	if err != nil {
		c.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	c.SetBody(body)
}

func stream(core *bifrost.Bifrost, c *fasthttp.RequestCtx, ctx *schemas.BifrostContext, cancel context.CancelFunc,
	r *schemas.BifrostChatRequest) {
	chunks, failed := core.ChatCompletionStreamRequest(ctx, r)
	if failed != nil {
		cancel()
		answer(c, nil, failed)
		return
	}
	c.SetContentType("text/event-stream")
	c.SetBodyStreamWriter(func(w *bufio.Writer) {
		defer cancel()
		for chunk := range chunks {
			body, err := sonic.Marshal(chunk)
			if err != nil {
				return
			}
			_, _ = w.WriteString("data: ")
			_, _ = w.Write(body)
			_, _ = w.WriteString("\n\n")
			if w.Flush() != nil {
				cancel()
				for range chunks { // its sender waits until they are taken
				}
				return
			}
		}
		_, _ = w.WriteString("data: [DONE]\n\n")
		_ = w.Flush()
	})
}
