package engine

import "slices"

// Doors are surfaces beside OpenAI's chat completions, as a set.
type Doors uint32

// The surfaces that engines may serve themselves.
const (
	Messages Doors = 1 << iota
	Responses
)

// Where the doors are.
const (
	MessagesPath  = "/v1/messages"
	ResponsesPath = "/v1/responses"
)

// AutoDoors leaves it to the kind of an engine, and to what it tells, which doors it serves.
const AutoDoors = "auto"

// door is one of Doors, by the name that configurations have for it.
type door struct {
	set        Doors
	name, path string
}

var doors = [...]door{{Messages, "messages", MessagesPath}, {Responses, "responses", ResponsesPath}}

// Served says what a kind of engine serves beside chat completions, in a form that can be passed through.
type Served struct {
	Doors  Doors // those that it may serve; whether an engine does, it is asked
	Salted Doors // of them, those that take cache_salt
	Ranked Doors // likewise, priority
	// those that leave out of a prompt what an agent tells its provider at the head of it (x-anthropic-billing-header)
	Unbilled Doors
	// Partial are doors that pass over some of what their clients say: at Messages a strict tool, one call at a time, a
	// format at the top of the body; at Responses a format that is json_object. What says such a thing is a chat there.
	Partial Doors
}

// DoorPaths calls f with each door of the set and its path.
func DoorPaths(set Doors, f func(door Doors, path string)) {
	for _, d := range doors {
		if set&d.set != 0 {
			f(d.set, d.path)
		}
	}
}

// Only returns the name and the path of the door that is the whole set; "" for any other set.
func (d Doors) Only() (name, path string) {
	for i := range doors {
		if doors[i].set == d {
			return doors[i].name, doors[i].path
		}
	}
	return "", ""
}

// DoorsNamed returns the doors of those names, and the first name that is unknown.
func DoorsNamed(names []string) (set Doors, unknown string) {
	for _, name := range names {
		i := slices.IndexFunc(doors[:], func(d door) bool { return d.name == name })
		if i < 0 {
			return set, name
		}
		set |= doors[i].set
	}
	return set, ""
}
