package server

// What a connection may have beyond net.Conn, as TCP's and those of Unix sockets have.
type (
	halfCloser interface{ CloseWrite() error }
	bothCloser interface {
		CloseRead() error
		CloseWrite() error
	}
	lingerer interface{ SetLinger(sec int) error }
)

// temporary is a failure of Accept that passes, such as a want of descriptors.
type temporary interface{ Temporary() bool }
