package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The codes of a Fault: a closed list.
const (
	CodeUnreadable    = "unreadable"     // the file cannot be read
	CodeTooLarge      = "too_large"      // more than 1 MiB
	CodeTooComplex    = "too_complex"    // too many or too deep nodes, aliases expanded
	CodeSyntax        = "yaml_syntax"    // not YAML
	CodeMultiDocument = "multi_document" // more than one document
	CodeUnknownKey    = "unknown_key"    // a key that does not exist
	CodeDuplicateKey  = "duplicate_key"  // the same key twice in one mapping
	CodeMissing       = "missing"        // a required key is absent
	CodeWrongType     = "wrong_type"     // text for a number, a list for a mapping …
	CodeOutOfRange    = "out_of_range"   // a number, size or duration out of its bounds
	CodeBadValue      = "bad_value"      // none of the accepted words, or not of the wanted form
	CodeBadDuration   = "bad_duration"   // not a duration such as 30s
	CodeBadSize       = "bad_size"       // not a size such as 8MiB
	CodeBadAddress    = "bad_address"    // not host:port
	CodeBadURL        = "bad_url"        // not a URL of an accepted scheme
	CodeBadVariable   = "bad_variable"   // a "${" that is not ${NAME}
	CodeUnsetVariable = "unset_variable" // ${NAME} that is not in the environment
	CodeBadOverride   = "bad_override"   // a --set or OCTET_ variable that cannot be applied
	CodeDuplicateName = "duplicate_name" // a name given twice
	CodeDuplicateURL  = "duplicate_url"  // two replicas at one URL
	CodeUnknownName   = "unknown_name"   // a reference to what is not there
	CodeCycle         = "cycle"          // fallbacks that lead back to where they began
	CodeConflict      = "conflict"       // two settings that cannot both hold
	CodeTooMany       = "too_many"       // more replicas than one gateway can tell apart, or faults than are listed
	CodeAdminExposed  = "admin_exposed"  // an open admin listener beyond loopback
	CodeExposed       = "exposed"        // an open listener beyond loopback
	CodeReservedName  = "reserved_name"  // a name that already means something
	CodeUnreachable   = "unreachable"    // a rule that no request can come to
)

const (
	rootPath    = "."     // the path of faults that are the whole file's
	maxFaults   = 1000    // faults that are reported one by one
	maxQuoted   = 64      // bytes of a user's text that a message repeats
	overlayLine = 1 << 30 // the first line number of what was set from outside: after the file
)

// Fault is one thing that is wrong, and where.
type Fault struct {
	Path string `json:"path"` // specialists[2].replicas[0].url; "." is the whole file
	// one of the Code constants, or of those of routing for what is wrong with a profile
	Code    string `json:"code"`
	Message string `json:"message"`           // ends with (line N), or with the override that set the value
	Line    int    `json:"line,omitempty"`    // 1-based; 0 = not in the file
	Column  int    `json:"column,omitempty"`  // 1-based; 0 = not in the file
	File    string `json:"file,omitempty"`    // the file of Line and Column, if not the configuration's own
	Profile string `json:"profile,omitempty"` // of a fault in a profile's composition, as are Plugin and Slot
	Plugin  string `json:"plugin,omitempty"`
	Slot    string `json:"slot,omitempty"`
}

// Faults is everything that is wrong with one file, in file order; overrides come last.
type Faults struct {
	File string
	List []Fault // never empty
}

// Add adds the faults that err is, save those of what has faults of its own already; any other error is returned.
func (f *Faults) Add(err error) error {
	var more *Faults
	if !errors.As(err, &more) {
		return err
	}
	earlier := f.List // what is wrong twice at one place is said twice
	for _, fault := range more.List {
		within := func(known Fault) bool {
			rest, ok := strings.CutPrefix(known.Path, fault.Path)
			return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
		}
		if !slices.ContainsFunc(earlier, within) {
			f.List = append(f.List, fault)
		}
	}
	return nil
}

// Error prints each fault on one line: path: code: message.
func (f *Faults) Error() string {
	var b strings.Builder
	for i, fault := range f.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s: %s", fault.Path, fault.Code, fault.Message)
	}
	return b.String()
}

// place is where a value was written.
type place struct {
	line, column int
	origin       string // the override that set it; empty = the file
}

// suffix is the end of a message about this place.
func (p place) suffix() string {
	switch {
	case p.origin != "":
		return " (set by " + p.origin + ")"
	case p.line > 0:
		return fmt.Sprintf(" (line %d)", p.line)
	}
	return ""
}

// report gathers the faults of one load.
type report struct {
	faults []Fault          // at most maxFaults
	more   int              // faults beyond them
	at     map[string]place // of every path that was given
}

// add notes a fault at a place of its own.
func (r *report) add(at place, path, code, format string, args ...any) {
	if len(r.faults) == maxFaults {
		r.more++
		return
	}
	r.faults = append(r.faults, Fault{
		Path: path, Code: code, Message: fmt.Sprintf(format, args...) + at.suffix(), Line: at.line, Column: at.column,
	})
}

// addAt notes a fault at the place of its path, or of the nearest parent that was given.
func (r *report) addAt(path, code, format string, args ...any) {
	r.add(r.nearest(path), path, code, format, args...)
}

func (r *report) nearest(path string) place {
	for {
		if at, ok := r.at[path]; ok {
			return at
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return r.at[""]
		}
		path = path[:cut]
	}
}

// given reports whether the path was written, in the file or by an override.
func (r *report) given(path string) bool {
	_, ok := r.at[path]
	return ok
}

// err returns the faults in file order, or nil where there are none.
func (r *report) err(file string) error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	for i := range r.faults {
		if r.faults[i].Line >= overlayLine {
			r.faults[i].Line, r.faults[i].Column = 0, 0
		}
	}
	if r.more > 0 {
		r.faults = append(r.faults,
			Fault{Path: rootPath, Code: CodeTooMany, Message: fmt.Sprintf("and %d more", r.more)})
	}
	return &Faults{File: file, List: r.faults}
}

// lineEnds would break a fault's one line in two.
var lineEnds = strings.NewReplacer("\n", `\n`, "\r", `\r`)

// clip shortens a user's text for a message, and keeps it on one line.
func clip(text string) string {
	text = lineEnds.Replace(text)
	if len(text) <= maxQuoted {
		return text
	}
	return strings.ToValidUTF8(text[:maxQuoted], "") + "…"
}
