package front

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"octet/gateway/apierr"
)

// plainListener accepts the connections that enter lets in, and refuses the others.
type plainListener struct {
	net.Listener
	server *plainServer
}

// Accept returns the next connection that is let in.
func (l *plainListener) Accept() (net.Conn, error) {
	for {
		nc, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		s, leaves, no := l.server.enter(nc)
		if leaves != nil {
			_ = leaves.Close() // its error changes nothing
		}
		if no == nil {
			return l.server.strict(s, s), nil
		}
		refuseConn(nc, no.typed(), l.server.newID())
	}
}

// refuseConn answers a connection that is not let in, and closes it.
func refuseConn(nc net.Conn, e *apierr.Error, id string) {
	tell(nc, e, id)
	_ = nc.Close() // its error changes nothing
}

// tell sends an error in plain HTTP.
func tell(nc net.Conn, e *apierr.Error, id string) {
	retry := ""
	if after := e.RetryAfterHeader(); after != "" {
		retry = "Retry-After: " + after + "\r\n"
	}
	body := e.AppendJSON(nil, id)
	_ = nc.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a new socket has room for so little
	_, _ = fmt.Fprintf(
		nc, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Request-Id: %s\r\n%sConnection: close\r\n"+
			"Content-Length: %d\r\n\r\n%s",
		e.Status(), http.StatusText(e.Status()), id, retry, len(body), body)
}
