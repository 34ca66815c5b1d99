package front

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// wiretap keeps what a client sends and receives.
type wiretap struct {
	net.Conn
	sent, received bytes.Buffer
}

func (w *wiretap) Write(p []byte) (int, error) {
	w.sent.Write(p)
	return w.Conn.Write(p)
}

func (w *wiretap) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.received.Write(p[:n])
	return n, err
}

// randomOf returns the random of the hello that a side has sent first: behind the heads of record and message, and the
// version.
func randomOf(stream []byte) []byte { return stream[5+4+2:][:32] }

// expand is the pseudorandom function of TLS 1.2 (RFC 5246, 5).
func expand(secret []byte, label string, seed []byte, n int) (out []byte) {
	mac := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		for _, p := range parts {
			h.Write(p)
		}
		return h.Sum(nil)
	}
	seed = append([]byte(label), seed...)
	for a := mac(seed); len(out) < n; a = mac(a) {
		out = append(out, mac(a, seed)...)
	}
	return out[:n]
}

// Go's client never renegotiates, so the test writes the record itself: a second hello of a client within its
// connection. The server ends the connection, and serves others.
func TestARenegotiationEndsItsConnection(t *testing.T) {
	s := serveSecured(t, Limits{})
	tap, keys := &wiretap{Conn: dial(t, s.address)}, new(bytes.Buffer)
	client := s.client.Clone()
	client.MaxVersion, client.KeyLogWriter = tls.VersionTLS12, keys
	client.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	over := tls.Client(tap, client)
	if err := over.Handshake(); err != nil {
		t.Fatal(err)
	}
	hello := tap.sent.Bytes()
	hello = hello[5 : 5+binary.BigEndian.Uint16(hello[3:5])]
	master, err := hex.DecodeString(strings.Fields(keys.String())[2])
	if err != nil {
		t.Fatal(err)
	}
	randoms := append(bytes.Clone(randomOf(tap.received.Bytes())), randomOf(tap.sent.Bytes())...)
	block := expand(master, "key expansion", randoms, 2*16+2*4)
	aead := newGCM(t, block[:16])
	const sequence = 1 // 0 was the client's Finished
	explicit := binary.BigEndian.AppendUint64(nil, sequence)
	head := []byte{22, 3, 3}
	sealed := aead.Seal(nil, append(bytes.Clone(block[32:36]), explicit...), hello,
		binary.BigEndian.AppendUint16(append(bytes.Clone(explicit), head...), uint16(len(hello))))
	record := binary.BigEndian.AppendUint16(head, uint16(8+len(sealed)))
	if _, err := tap.Conn.Write(append(append(record, explicit...), sealed...)); err != nil {
		t.Fatal(err)
	}
	_ = over.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer, err := bufio.NewReader(over).ReadString('\n')
	if err == nil || answer != "" || !strings.Contains(err.Error(), "unexpected message") {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := io.Copy(io.Discard, tap.Conn); err != nil { // it may say that it closes
		t.Errorf("the connection is open: %v", err)
	}
	if err := s.served(); err != nil {
		t.Error(err)
	}
}

func newGCM(t *testing.T, key []byte) cipher.AEAD {
	t.Helper()
	b, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(b)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}
