package intake

import (
	"fmt"
	"mime"
	"net/http"

	"octet/gateway/apierr"
)

// CheckHeader refuses a head, the request line included, of more than most bytes.
func CheckHeader(r *http.Request, most int) *apierr.Error {
	n := headSize(r)
	for name, values := range r.Header {
		n += fieldSize(name, values)
	}
	return checkHead(n, most)
}

// headSize is the bytes of a head without its fields.
func headSize(r *http.Request) int {
	return len(r.Method) + len(r.RequestURI) + len("  HTTP/1.1\r\n") + len("Host: \r\n") + len(r.Host)
}

func fieldSize(name string, values []string) (n int) {
	for _, v := range values {
		n += len(name) + len(v) + len(": \r\n")
	}
	return n
}

func checkHead(n, most int) *apierr.Error {
	if n > most {
		return apierr.New(apierr.HeaderTooLarge, "",
			fmt.Sprintf("the header is %d bytes, limits.header_bytes is %d", n, most))
	}
	return nil
}

// CheckMedia refuses bodies that are not plain JSON.
func CheckMedia(enc, ct string) *apierr.Error {
	if enc != "" && enc != "identity" {
		return apierr.New(apierr.UnsupportedMediaType, "Content-Encoding", "the body must not be compressed")
	}
	if ct == "application/json" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
		return apierr.New(apierr.UnsupportedMediaType, "Content-Type", "the body must be application/json")
	}
	return nil
}
