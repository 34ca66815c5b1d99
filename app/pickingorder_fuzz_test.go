package app_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
)

// sayings are what a proxy may say, in any order.
func sayings() []*extproc.ProcessingRequest {
	chunk := []byte(`data: {"id":"1","object":"chat.completion.chunk","model":"debug",` +
		`"choices":[{"index":0,"delta":{"content":"a"}}]}` + "\n\n")
	done := []byte("data: [DONE]\n\n")
	tail := &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_ResponseTrailers{
		ResponseTrailers: &extproc.HttpTrailers{}}}
	asked := &extproc.ProcessingRequest{Request: &extproc.ProcessingRequest_RequestTrailers{
		RequestTrailers: &extproc.HttpTrailers{}}}
	return []*extproc.ProcessingRequest{
		requestHead("POST", "/v1/chat/completions", false, nil), requestPiece(streamChat, true),
		requestPiece(pickedChat, true), requestPiece(streamChat, false), asked,
		answerHead(false, ":status", "200", "content-type", "text/event-stream"),
		answerHead(true, ":status", "503"), answerPiece(chunk, false), answerPiece(done, false),
		answerPiece(done, true), tail, answerHead(false), {}, requestHead("GET", "/v1/models", true, nil),
		requestHead("POST", "://", false, nil), answerPiece(nil, true),
	}
}

// whole is a stream as it should be: head, body, head, event, end.
var wholeSaid = []byte{0, 1, 5, 7, 9}

func FuzzNoOrderOfMessagesHoldsAnything(f *testing.F) {
	for _, seed := range [][]byte{wholeSaid, {}, {0}, {0, 1}, {0, 3, 4}, {0, 3, 4, 5, 7, 8, 10}, {0, 1, 5}, {0, 1, 6},
		{5, 0}, {0, 0}, {0, 1, 1}, {0, 2, 5, 15}, {13}, {13, 5}, {14}, {0, 1, 7}, {0, 1, 11}, {0, 1, 5, 5}, {0, 12},
		{0, 1, 5, 7, 10}, {0, 1, 5, 7, 12}, {0, 1, 5, 9, 9, 10}} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	w := newWorld(f, smallWorld, smallEngines())
	e := newEnvoy(f, w, false, nil)
	all := sayings()
	f.Fuzz(func(t *testing.T, order []byte, closes bool) {
		if len(order) > 12 {
			return
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		defer leave()
		call, err := e.client.Process(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range order {
			_ = call.Send(all[int(o)%len(all)]) // the call may be over
		}
		if closes {
			_ = call.CloseSend()
			for err == nil {
				_, err = call.Recv()
			}
			if status.Code(err) == codes.DeadlineExceeded {
				t.Errorf("%v: the call does not end", order)
			}
		}
		leave()
		quiet(t, w)
	})
}
