package config

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON schema (draft 2020-12) of the file, for editors. It is generated from the types, their tags
// and their comments: go test ./config -run SchemaIsCurrent -update. What only shows when keys are seen together, such
// as a fallback that is not there, is beyond it. The caller owns the bytes.
func Schema() []byte { return append([]byte(nil), schema...) }
