package picker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"octet/gateway/intake"
)

// The protocol's names.
const (
	endpointKey  = "x-gateway-destination-endpoint"
	subsetKey    = "x-gateway-destination-endpoint-subset"
	endpointsIn  = "envoy.lb"             // the namespace of endpointKey in metadata
	subsetHintIn = "envoy.lb.subset_hint" // and of subsetKey
)

// valueOf returns a field's value, which is in one of two members.
func valueOf(h *core.HeaderValue) string {
	if raw := h.GetRawValue(); len(raw) > 0 {
		return string(raw)
	}
	return h.GetValue()
}

// requestOf returns the request with a head. Its body is read from the call.
func requestOf(c *call, h *extproc.HttpHeaders) (*http.Request, error) {
	r := &http.Request{Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, ContentLength: -1}
	for _, f := range h.GetHeaders().GetHeaders() {
		value := valueOf(f)
		switch name := strings.ToLower(f.GetKey()); name {
		case ":method":
			r.Method = value
		case ":path":
			r.RequestURI = value
		case ":authority", "host":
			r.Host = value
		case ":scheme", "transfer-encoding":
		default:
			if !slices.Contains(c.names, name) {
				c.names = append(c.names, name)
			}
			name = textproto.CanonicalMIMEHeaderKey(name)
			r.Header[name] = append(r.Header[name], value)
		}
	}
	var err error
	if r.URL, err = url.ParseRequestURI(r.RequestURI); err != nil || r.Method == "" {
		return nil, fmt.Errorf("no request: %q %q", r.Method, r.RequestURI)
	}
	if text := r.Header.Get("Content-Length"); text != "" {
		if r.ContentLength, err = strconv.ParseInt(text, 10, 64); err != nil || r.ContentLength < 0 {
			return nil, fmt.Errorf("no length: %q", text)
		}
	}
	r.RemoteAddr = sourceOf(r.Header["X-Forwarded-For"])
	if c.whole = h.GetEndOfStream(); c.whole {
		r.ContentLength = 0
	}
	r.Body = body{c, new([]byte)}
	return r.WithContext(c.ctx), nil
}

// sourceOf returns where a request came from, as the proxy noted it last; "" if it did not.
func sourceOf(forwarded []string) string {
	all := strings.Join(forwarded, ",")
	last := strings.TrimSpace(all[strings.LastIndexByte(all, ',')+1:])
	if at, err := netip.ParseAddr(last); err == nil {
		return net.JoinHostPort(at.String(), "0")
	}
	return ""
}

// amongOf returns the endpoints that the proxy offers for a request, of its metadata or else of its head; nil: all.
func amongOf(m *extproc.ProcessingRequest, r *http.Request) intake.Among {
	hint, told := m.GetMetadataContext().GetFilterMetadata()[subsetHintIn].GetFields()[subsetKey]
	var texts []string
	switch v := hint.GetKind().(type) {
	case *structpb.Value_StringValue:
		texts = []string{v.StringValue}
	case *structpb.Value_ListValue:
		for _, one := range v.ListValue.GetValues() {
			texts = append(texts, one.GetStringValue())
		}
	}
	if !told {
		if texts, told = r.Header[textproto.CanonicalMIMEHeaderKey(subsetKey)]; !told {
			return nil
		}
	}
	among := intake.Among{}
	for text := range strings.SplitSeq(strings.Join(texts, ","), ",") {
		if text = strings.TrimSpace(text); text != "" {
			among = append(among, text)
		}
	}
	return among
}

// body is the body of a call's request.
type body struct {
	*call
	rest *[]byte // received and not read
}

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	for len(*b.rest) == 0 {
		if b.whole {
			return 0, io.EOF
		}
		if err := b.more(); err != nil {
			return 0, err
		}
	}
	n := copy(p, *b.rest)
	*b.rest = (*b.rest)[n:]
	return n, nil
}

// more takes the next message of the body.
func (b body) more() error {
	m, err := b.nextBy(b.ctx, &b.reads)
	if err != nil {
		return err
	}
	switch piece := m.GetRequestBody(); {
	case piece != nil:
		*b.rest, b.whole = piece.GetBody(), piece.GetEndOfStream()
		b.keep(piece.GetBody())
	case m.GetRequestTrailers() != nil:
		b.whole, b.trailers = true, true
	default:
		return b.misplaced(m, "the request's body")
	}
	return nil
}

// Close implements io.Closer.
func (body) Close() error { return nil }

var errNoEndpoint = errors.New("the replica's URL names no host and port")
