package server

import "octet/internal/http1/field"

// Classes of bytes.
const (
	tokenByte uint8 = 1 << iota // of a method or a field's name
	hostByte                    // of a Host field's value
	pathByte                    // of a path that means itself
)

var classes = func() (t [256]uint8) {
	mark := func(set string, class uint8) {
		for i := range len(set) {
			t[set[i]] |= class
		}
	}
	const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	mark(alphanumeric, tokenByte|hostByte|pathByte)
	mark("!#$%&'*+-.^_`|~", tokenByte)
	mark("!$%&'()*+,-.:;=[]_~", hostByte)
	mark("/-._~", pathByte)
	return t
}()

func all(s string, class uint8) bool {
	for i := range len(s) {
		if classes[s[i]]&class == 0 {
			return false
		}
	}
	return true
}

func token(s string) bool     { return field.IsName(s) }
func printable(s string) bool { return field.IsValue(s) }
func trim(s string) string    { return field.Trim(s) }
func plainPath(s string) bool { return s != "" && s[0] == '/' && all(s, pathByte) }

// canonical returns a field's name as net/http spells it; "" if it is no name. It allocates only for names that are
// spelt otherwise and that few clients send.
func canonical(name string) string {
	upper, as := true, true
	for i := range len(name) {
		b := name[i]
		if classes[b]&tokenByte == 0 {
			return ""
		}
		if upper && 'a' <= b && b <= 'z' || !upper && 'A' <= b && b <= 'Z' {
			as = false
		}
		upper = b == '-'
	}
	if as {
		return name
	}
	return respell(name)
}

func respell(name string) string {
	var room [64]byte
	spelt := append(room[:0], name...)
	upper := true
	for i, b := range spelt {
		if upper && 'a' <= b && b <= 'z' {
			spelt[i] = b - 'a' + 'A'
		} else if !upper && 'A' <= b && b <= 'Z' {
			spelt[i] = b - 'A' + 'a'
		}
		upper = b == '-'
	}
	if known, ok := common[string(spelt)]; ok {
		return known
	}
	return string(spelt)
}

// common are the names that clients send, canonical.
var common = func() map[string]string {
	m := map[string]string{}
	for _, name := range []string{
		"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control",
		"Connection", "Content-Encoding",
		"Content-Length", "Content-Type", "Cookie", "Date", "Dnt", "Expect", "Forwarded", "Host", "Idempotency-Key",
		"If-None-Match", "Keep-Alive",
		"Openai-Organization", "Openai-Project", "Origin", "Pragma", "Referer", "Te", "Traceparent", "Tracestate",
		"Trailer", "Transfer-Encoding",
		"Upgrade", "User-Agent", "Via", "X-Adapter", "X-Api-Key", "X-Claude-Code-Session-Id", "X-Deadline-Ms",
		"X-Dynamo-Session-Id",
		"X-Explain", "X-Forwarded-For",
		"X-Forwarded-Host",
		"X-Forwarded-Proto", "X-Intent", "X-Priority", "X-Real-Ip", "X-Request-Id", "X-Session-Id", "X-Stainless-Arch",
		"X-Stainless-Async",
		"X-Stainless-Lang", "X-Stainless-Os", "X-Stainless-Package-Version", "X-Stainless-Read-Timeout",
		"X-Stainless-Retry-Count",
		"X-Stainless-Runtime", "X-Stainless-Runtime-Version", "X-Stainless-Timeout", "X-Ttft-Deadline-Ms",
	} {
		m[name] = name
	}
	return m
}()
