package gateway

import "syscall"

// Descriptors that are neither a client's nor for an answer from an engine: listeners, the admin listener's
// connections, probes, sources of events, files.
const (
	reservedFiles   = 64
	filesPerReplica = 4
)

// mostConnections is how many connections of clients may be open: limits.connections, and no more than leaves as many
// descriptors for connections to engines, beside the reserve. So engines are reached, and operators answered, whatever
// clients hold open.
func (s *Server) mostConnections() int {
	rt, files, replicas := s.runtime.Load(), openFiles(), 0
	for _, rep := range &rt.Replicas {
		if rep != nil {
			replicas++
		}
	}
	most, room := rt.Limits.Connections, connectionsWithin(files, replicas)
	if files > 0 && (most == 0 || room < most) {
		s.log.Warn("fewer connections than limits.connections: the process may not open enough files", "connections",
			room, "files", files)
		return room
	}
	return most
}

// connectionsWithin is how many clients a process may have that may open so many files.
func connectionsWithin(files, replicas int) int {
	reserve := min(reservedFiles+filesPerReplica*replicas, files/2)
	return max((files-reserve)/2, 1)
}

// openFiles is how many files the process may have open; 0 is unknown.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
