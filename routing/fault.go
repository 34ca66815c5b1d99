package routing

import (
	"fmt"
	"strings"
)

// Code classifies a Fault for machines. The codes are stable.
type Code string

// What can be wrong with a ProfileSpec.
const (
	CodeUnknownPlugin     Code = "unknown_plugin"
	CodeUnknownParameter  Code = "unknown_parameter"
	CodeInvalidParameter  Code = "invalid_parameter"
	CodeMissingDependency Code = "missing_dependency" // a plugin, or a part of the program, that a plugin needs
	CodePluginConflict    Code = "plugin_conflict"    // a plugin stands beside one that it excludes
	CodeWrongStage        Code = "wrong_stage"
	CodeDuplicatePlugin   Code = "duplicate_plugin" // a scorer listed twice
	CodeMissingWriter     Code = "missing_writer"
	CodeTwoWriters        Code = "two_writers"
	CodeTypeConflict      Code = "type_conflict" // one slot name, two types
	CodeCycle             Code = "cycle"
	CodeWrongOrder        Code = "wrong_order"
	CodeUnusedWrite       Code = "unused_write"
	CodeWeight            Code = "weight_not_positive"
	CodeNoPicker          Code = "no_picker"
	CodeManyPickers       Code = "many_pickers"
)

// Fault is one thing wrong with a ProfileSpec.
type Fault struct {
	Code    Code   `json:"code"`
	Profile string `json:"profile"`
	Plugin  string `json:"plugin,omitempty"`
	Slot    string `json:"slot,omitempty"`
	Pos     string `json:"pos"` // where in the config
	Message string `json:"message"`
}

// String is the fault on one line: position, code, message.
func (f Fault) String() string { return fmt.Sprintf("%s: %s: %s", f.Pos, f.Code, f.Message) }

// Faults is everything wrong with a ProfileSpec, in the order of the spec.
type Faults []Fault

// Error puts one fault on a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
