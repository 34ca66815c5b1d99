package app_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"

	"octet/app"
	"octet/config"
)

// A gateway needs no command line.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	cfg, err := config.Parse("octet.yaml", []byte(`
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
auth: {anonymous: true}
specialists: [{name: debug, replicas: [{url: "http://127.0.0.1:9001", blocks: 512}]}]
`), config.Options{})
	if err != nil {
		log.Fatal(err)
	}
	a, err := app.New(ctx, cfg, app.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		log.Fatal(err)
	}
	data, admin, err := app.Listen(cfg)
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- a.Serve(ctx, data, admin) }()

	resp, err := http.Get("http://" + data.Addr().String() + "/v1/models")
	if err != nil {
		log.Fatal(err)
	}
	_ = resp.Body.Close()
	fmt.Println(resp.Status)

	stop() // drains
	fmt.Println(<-served, a.Close())
	// Output:
	// 200 OK
	// <nil> <nil>
}
