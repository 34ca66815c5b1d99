package model

// BuiltinName is the path that names the artefact in the program.
const BuiltinName = "builtin"

// Open reads the artefact at path, or the builtin one.
func Open(path string) (*Model, error) {
	if path == BuiltinName {
		return Builtin()
	}
	a, err := Load(path)
	if err != nil {
		return nil, err
	}
	return New(a)
}
