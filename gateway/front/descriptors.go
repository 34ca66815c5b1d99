package front

import "syscall"

// Descriptors that serve neither a client nor an answer from an engine: the admin listener's connections, listeners,
// probes, sources of events, files.
const (
	reservedFiles   = Operators + 64
	filesPerReplica = 4
)

// Room is how many connections of clients may be open: most, and no more than leave as many descriptors for connections
// to engines, beside the reserve. Zero means no limit.
func (cfg *Config) Room(most int) int {
	files := openFiles()
	room := connectionsWithin(files, cfg.Replicas)
	if files > 0 && (most == 0 || room < most) {
		cfg.Log.Warn("fewer connections than limits.connections: the process may not open enough files", "connections",
			room, "files", files)
		return room
	}
	return most
}

// connectionsWithin is how many connections of clients fit into a process that may open so many files.
func connectionsWithin(files, replicas int) int {
	reserve := min(reservedFiles+filesPerReplica*replicas, files/2)
	return max((files-reserve)/2, 1)
}

// openFiles is how many files the process may have open; zero if that is unknown.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, 1<<30))
}
