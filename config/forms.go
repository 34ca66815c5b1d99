package config

import (
	"encoding/hex"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"octet/engine"
	"octet/internal/dialing"
)

// forms are the checks that a form tag names. "text" wants nothing but not to be emptied.
var forms = map[string]func(text string) *problem{
	"name":    formName,
	"gateway": formGateway,
	"sha256":  formSHA256,
	"salt":    formSalt,
	"version": formVersion,
	"instant": formInstant,
	"jwks":    formJWKS,
	"listen":  formListen,
	"host":    formHost,
	"origin":  formOrigin,
	"addr":    formAddr,
	"url":     formURL,
	"replica": formReplicaURL,
	"prefix":  formPrefix,
	"domain":  formDomain,
	"path":    formPath,
	"command": formCommand,
	"zmq":     formZMQ,
	"nats":    formNATS,
	"subject": formSubject,
	"otlp":    formOTLP,

	"tokenizer": formTokenizer,
	"text":      nil,
	engineForm:  nil,
}

// engineForm is the form of a kind of engine: one of the words that the table of engine kinds has.
const engineForm = "engine"

// engineNames returns the words that a kind of engine may be.
func engineNames(kinds engine.Table) []string { return append([]string{engine.Auto}, kinds.Names()...) }

// maxName bounds what ends up in headers, metric labels and model ids.
const maxName = 63

// formGateway wants what may stand in a subject of NATS and before the "." of a receipt's id.
func formGateway(text string) *problem {
	ok := text != "" && len(text) <= maxName
	for i := 0; ok && i < len(text); i++ {
		ok = letterOrDigit(text[i]) || text[i] == '_' || text[i] == '-'
	}
	if !ok {
		return wrong(CodeBadValue, "%q is not a name of letters, digits, '_' and '-', at most %d", clip(text), maxName)
	}
	return nil
}

// formName wants what may stand in a header, a label, a path and before or after the ":" of a model.
func formName(text string) *problem {
	ok := text != "" && len(text) <= maxName && letterOrDigit(text[0])
	for i := 0; ok && i < len(text); i++ {
		ok = letterOrDigit(text[i]) || strings.IndexByte("._-", text[i]) >= 0
	}
	if !ok {
		return wrong(CodeBadValue,
			"%q is not a name: a letter or digit, then letters, digits, '.', '_' or '-', at most %d", clip(text),
			maxName)
	}
	return nil
}

func letterOrDigit(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' }

// maxSalt is how many bytes a cache_salt may have: an engine's cache event that names a longer one is left out of the
// index.
const maxSalt = 256

func formSalt(text string) *problem {
	if len(text) > maxSalt {
		return wrong(CodeBadValue, "a salt of %d bytes, at most %d", len(text), maxSalt)
	}
	return nil
}

// maxVersion is how many bytes a version may have: it stands in receipts, records and what gateways tell each other.
const maxVersion = 256

func formVersion(text string) *problem {
	if len(text) > maxVersion {
		return wrong(CodeBadValue, "a version of %d bytes, at most %d", len(text), maxVersion)
	}
	return nil
}

func formSHA256(text string) *problem {
	if sum, err := hex.DecodeString(text); err != nil || len(sum) != 32 {
		return wrong(CodeBadValue, "want 64 hex digits, the SHA-256 of the key, found %d characters", len(text))
	}
	return nil
}

// formListen wants an address to listen on; port 0 picks a free one, an empty host is every interface.
func formListen(text string) *problem { return address(text, 0) }

// formHost wants a name or an address without a port.
func formHost(text string) *problem {
	if text == "" || strings.ContainsAny(text, "/@[] \t") || strings.Contains(text, ":") && net.ParseIP(text) == nil {
		return wrong(CodeBadAddress, "%q is not a host's name or address without a port", clip(text))
	}
	return nil
}

// formOrigin wants what browsers say in Origin: a scheme and a host.
func formOrigin(text string) *problem {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != text {
		return wrong(CodeBadURL, "%q is not an origin such as https://chat.example.com", clip(text))
	}
	return nil
}

// formAddr wants an address to dial.
func formAddr(text string) *problem {
	if p := address(text, 1); p != nil {
		return p
	}
	switch host, _, _ := net.SplitHostPort(text); {
	case host == "":
		return wrong(CodeBadAddress, "%q names no host", clip(text))
	case linkLocal(host):
		return wrong(CodeBadAddress, "%q is a link-local address, which is no server's of ours", clip(text))
	}
	return nil
}

func address(text string, leastPort int) *problem {
	host, port, err := net.SplitHostPort(text)
	if err != nil || strings.ContainsAny(host, " \t/@") {
		return wrong(CodeBadAddress, "%q is not host:port", clip(text))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || int(n) < leastPort {
		return wrong(CodeBadAddress, "%q is not a port between %d and 65535", clip(port), leastPort)
	}
	return nil
}

// formURL is formReplicaURL that accepts no link-local address.
func formURL(text string) *problem {
	if p := formReplicaURL(text); p != nil {
		return p
	}
	return linkLocalURL(text, nil)
}

// linkLocalURL wants a URL whose host is no address that the gateway connects to nowhere, unless it is allowed.
func linkLocalURL(text string, allowed []netip.Prefix) *problem {
	u, err := url.Parse(text)
	if err != nil || !linkLocal(u.Hostname()) {
		return nil
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && dialing.Within(allowed, ip) {
		return nil
	}
	return wrong(CodeBadURL, "%q is a link-local address, which is no engine's", clip(u.Hostname()))
}

// formReplicaURL wants http or https, a host, and nothing after the path: no query, no fragment, no user.
func formReplicaURL(text string) *problem {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		return wrong(CodeBadURL, "%q is not an http or https URL", clip(text))
	case u.Hostname() == "":
		return wrong(CodeBadURL, "%q names no host", clip(text))
	case oddPath(u.EscapedPath()):
		return wrong(CodeBadURL, "the path of %q has empty, dot or escaped segments", clip(text))
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return wrong(CodeBadURL, "a replica's URL has no user, query or fragment; api_key is a key of its own")
	}
	return urlPort(u)
}

// linkLocal reports whether a host is written as a link-local address; what names resolve to is looked at when they are
// dialled.
func linkLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && dialing.LinkLocal(ip)
}

// oddPath reports whether a path may mean another one to those that it passes: it has empty, dot or escaped segments.
func oddPath(path string) bool {
	for i, segment := range strings.Split(path, "/") {
		inside := i > 0 && segment == "" && i < strings.Count(path, "/")
		if inside || segment == "." || segment == ".." || strings.ContainsAny(segment, "%\\;") ||
			strings.IndexFunc(segment, unicode.IsControl) >= 0 {
			return true
		}
	}
	return false
}

func urlPort(u *url.URL) *problem {
	if u.Port() == "" {
		return nil
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
		return wrong(CodeBadURL, "%q is not a port between 1 and 65535", clip(u.Port()))
	}
	return nil
}

func formPath(text string) *problem {
	if text[0] != '/' || strings.ContainsAny(text, " \r\n?#") || oddPath(text) {
		return wrong(CodeBadValue, "%q is not a path such as /health", clip(text))
	}
	return nil
}

// formZMQ wants an endpoint as engines print it: tcp://host:port, host "*" to bind, or ipc://path.
func formZMQ(text string) *problem {
	if rest, ok := strings.CutPrefix(text, "tcp://"); ok {
		return formAddr(rest)
	}
	if rest, ok := strings.CutPrefix(text, "ipc://"); ok && rest != "" {
		return nil
	}
	return wrong(CodeBadURL, "%q is not tcp://host:port or ipc://path", clip(text))
}

func formNATS(text string) *problem {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "nats" && u.Scheme != "tls" {
		return wrong(CodeBadURL, "want nats://host:port, or tls://host:port")
	}
	return urlPort(u)
}

// formSubject wants a NATS subject: tokens between dots, "*" one token, ">" the rest.
func formSubject(text string) *problem {
	tokens := strings.Split(text, ".")
	for i, token := range tokens {
		wild := token == "*" || token == ">" && i == len(tokens)-1
		if token == "" || !wild && strings.ContainsAny(token, " \t\r\n*>") {
			return wrong(CodeBadValue, "%q is not a NATS subject such as octet.kv.>", clip(text))
		}
	}
	return nil
}

// formPrefix wants an IP address, or a prefix of such.
func formPrefix(text string) *problem {
	if _, err := prefixOf(text); err != nil {
		return wrong(CodeBadAddress, "%q is neither an IP address nor a prefix such as 169.254.10.0/24", clip(text))
	}
	return nil
}

// prefixOf reads an address as the prefix that holds it alone.
func prefixOf(text string) (netip.Prefix, error) {
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() == "" {
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	return netip.ParsePrefix(text)
}

// formDomain wants a name that DNS has: labels of at most 63 bytes between dots, 253 in all.
func formDomain(text string) *problem {
	ok := len(text) <= 253
	for label := range strings.SplitSeq(strings.TrimSuffix(text, "."), ".") {
		ok = ok && label != "" && len(label) <= 63
	}
	for i := 0; ok && i < len(text); i++ {
		ok = letterOrDigit(text[i]) || strings.IndexByte("._-", text[i]) >= 0
	}
	if _, err := netip.ParseAddr(text); !ok || err == nil {
		return wrong(CodeBadValue, "%q is not a name that DNS has, such as vllm.debug.svc", clip(text))
	}
	return nil
}

// formTokenizer wants one of the words, or the path of a file.
func formTokenizer(text string) *problem {
	switch {
	case text == "auto", text == "engine", text == "builtin", text == "none", strings.Contains(text, "/"):
		return nil
	}
	return wrong(CodeBadValue,
		"%q is not auto, engine, builtin, none, or the path of a tokenizer.json, such as ./tokenizer.json", clip(text))
}
