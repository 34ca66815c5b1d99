package picker

import (
	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	kinds "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

// mostPiece is the size of a piece of a body: with its frame, it is within what the proxy takes as one message.
const mostPiece = 60 << 10

// set returns a field that replaces all of its name, or is added to them.
func set(name, value string, add bool) *core.HeaderValueOption {
	action := core.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD
	if add {
		action = core.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD
	}
	return &core.HeaderValueOption{Header: &core.HeaderValue{Key: name, RawValue: []byte(value)}, AppendAction: action}
}

// headed answers the head of a request: it goes to an endpoint, with fields that are set and without some.
func headed(to string, fields []*core.HeaderValueOption, without []string) *extproc.ProcessingResponse {
	fields = append(fields, set(endpointKey, to, false))
	named := &structpb.Struct{Fields: map[string]*structpb.Value{endpointKey: structpb.NewStringValue(to)}}
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_RequestHeaders{RequestHeaders: &extproc.HeadersResponse{
			Response: &extproc.CommonResponse{ClearRouteCache: true,
				HeaderMutation: &extproc.HeaderMutation{SetHeaders: fields, RemoveHeaders: without}}}},
		DynamicMetadata: &structpb.Struct{Fields: map[string]*structpb.Value{
			endpointsIn: structpb.NewStructValue(named)}},
	}
}

// answerHead answers the head of an engine's answer.
func answerHead(fields []*core.HeaderValueOption, without []string) *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_ResponseHeaders{ResponseHeaders: &extproc.HeadersResponse{
			Response: &extproc.CommonResponse{
				HeaderMutation: &extproc.HeaderMutation{SetHeaders: fields, RemoveHeaders: without}}}}}
}

func streamed(piece []byte, last bool) *extproc.BodyResponse {
	return &extproc.BodyResponse{Response: &extproc.CommonResponse{BodyMutation: &extproc.BodyMutation{
		Mutation: &extproc.BodyMutation_StreamedResponse{
			StreamedResponse: &extproc.StreamedBodyResponse{Body: piece, EndOfStream: last}}}}}
}

func requestPiece(piece []byte, last bool) *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_RequestBody{RequestBody: streamed(piece, last)}}
}

func answerPiece(piece []byte, last bool) *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_ResponseBody{ResponseBody: streamed(piece, last)}}
}

func requestTrailers() *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_RequestTrailers{RequestTrailers: &extproc.TrailersResponse{}}}
}

func answerTrailers() *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_ResponseTrailers{ResponseTrailers: &extproc.TrailersResponse{}}}
}

// immediate is a whole answer that no engine has given.
func immediate(code int, fields []*core.HeaderValueOption, body []byte) *extproc.ProcessingResponse {
	return &extproc.ProcessingResponse{
		Response: &extproc.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extproc.ImmediateResponse{
			Status:  &kinds.HttpStatus{Code: kinds.StatusCode(code)}, //nolint:gosec // three digits
			Headers: &extproc.HeaderMutation{SetHeaders: fields}, Body: body, Details: "octet"}}}
}

// echoOf returns the answer to a message that changes nothing, and whether it is the last of a call; nil for a message
// that cannot come once a request goes on.
func echoOf(m *extproc.ProcessingRequest) (echo *extproc.ProcessingResponse, last bool) {
	switch r := m.GetRequest().(type) {
	case *extproc.ProcessingRequest_RequestBody:
		return requestPiece(r.RequestBody.GetBody(), r.RequestBody.GetEndOfStream()), false
	case *extproc.ProcessingRequest_RequestTrailers:
		return requestTrailers(), false
	case *extproc.ProcessingRequest_ResponseHeaders:
		return answerHead(nil, nil), r.ResponseHeaders.GetEndOfStream()
	case *extproc.ProcessingRequest_ResponseBody:
		return answerPiece(r.ResponseBody.GetBody(), r.ResponseBody.GetEndOfStream()), r.ResponseBody.GetEndOfStream()
	case *extproc.ProcessingRequest_ResponseTrailers:
		return answerTrailers(), true
	}
	return nil, false
}
