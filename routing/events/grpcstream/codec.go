package grpcstream

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// frame is a message that was not decoded yet.
type frame struct{ data []byte }

// codec passes frames through as they are, so that package events decodes them within its limits; all else is
// protobuf's.
type codec struct{}

var _ encoding.CodecV2 = codec{}

// Name implements encoding.CodecV2.
func (codec) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	var data []byte
	var err error
	switch v := v.(type) {
	case *frame:
		data = v.data
	case proto.Message:
		data, err = proto.Marshal(v)
	default:
		err = fmt.Errorf("grpcstream: a %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(data)}, err
}

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch v := v.(type) {
	case *frame:
		v.data = data.Materialize()
		return nil
	case proto.Message:
		return proto.Unmarshal(data.Materialize(), v)
	}
	return fmt.Errorf("grpcstream: a %T", v)
}
