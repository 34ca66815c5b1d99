package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"octet/engine"
)

var update = flag.Bool("update", false, "rewrite schema.json from the types")

// The schema that editors get says what the types, their tags and their comments say.
func TestSchemaIsCurrent(t *testing.T) {
	want := generate(t)
	if *update {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("schema.json"); err != nil || !bytes.Equal(want, got) {
		t.Error("schema.json is stale: go test ./config -run SchemaIsCurrent -update")
	}
}

// Every key of every section is shown in the reference, switched on or commented out.
func TestReferenceShowsEveryKey(t *testing.T) {
	shown := map[string]bool{}
	for _, match := range regexp.MustCompile(`([a-z0-9_]+):[ \n]`).FindAllSubmatch(Example(), -1) {
		shown[string(match[1])] = true
	}
	for _, section := range sections(reflect.TypeFor[Config](), nil) {
		for _, k := range keysOf(section) {
			if !shown[k.name] {
				t.Errorf("reference.yaml does not show %s of %s", k.name, section)
			}
		}
	}
}

// Every key is explained where it is declared.
func TestEveryKeyHasAComment(t *testing.T) {
	comments := comments(t)
	for _, section := range sections(reflect.TypeFor[Config](), nil) {
		for _, k := range keysOf(section) {
			if f := section.FieldByIndex(k.field); comments[k.owner.Name()+"."+f.Name] == "" {
				t.Errorf("%s.%s has no comment", section, f.Name)
			}
		}
	}
}

// sections returns every struct type that keys lead to from t, each once.
func sections(t reflect.Type, found []reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return sections(t.Elem(), found)
	case reflect.Struct:
		if isPlugin(t) {
			return found
		}
		for _, known := range found {
			if known == t {
				return found
			}
		}
		found = append(found, t)
		for i := range t.NumField() {
			found = sections(t.Field(i).Type, found)
		}
	default: // a value holds no sections
	}
	return found
}

func generate(t *testing.T) []byte {
	root := describeType(reflect.TypeFor[Config](), key{}, comments(t))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Octet configuration"
	root["patternProperties"] = map[string]any{"^x-": map[string]any{}}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(root); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type object = map[string]any

const variablePattern = `\$\{[A-Za-z_][A-Za-z0-9_]*\}`

// describeType is the schema of one value of type t under the rules of k.
func describeType(t reflect.Type, k key, comments map[string]string) object {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return bounded(object{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$`}, t, k)
	case t == reflect.TypeFor[Size]():
		return bounded(object{"type": []string{"string", "integer"}, "pattern": `^[0-9.]+ ?([KkMmGgTtPp]i?)?[Bb]?$`}, t,
			k)
	case isPlugin(t):
		return object{"anyOf": []object{{"type": "string"}, {"type": "object", "minProperties": 1, "maxProperties": 1}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem(), k, comments)
	case reflect.Struct:
		return describeStruct(t, comments)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": describeType(t.Elem(), key{}, comments)}
	case reflect.Slice:
		items := object{"type": "array", "items": describeType(t.Elem(), k.element(), comments)}
		if k.required {
			items["minItems"] = 1
		}
		return items
	case reflect.String:
		return describeText(k)
	case reflect.Bool:
		return withDefault(object{"type": "boolean"}, k, func(s string) any { return s == "true" })
	case reflect.Float64:
		return bounded(object{"type": "number"}, t, k)
	default:
		return bounded(object{"type": "integer"}, t, k)
	}
}

func describeStruct(t reflect.Type, comments map[string]string) object {
	properties, required := object{}, []string{}
	for _, k := range keysOf(t) {
		field := t.FieldByIndex(k.field)
		property := describeType(field.Type, k, comments)
		property["description"] = comments[k.owner.Name()+"."+field.Name]
		properties[k.name] = property
		if k.required {
			required = append(required, k.name)
		}
	}
	described := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		described["required"] = required
	}
	return described
}

func describeText(k key) object {
	text := object{"type": "string"}
	if k.form == engineForm {
		k.enum = engineNames(engine.AllKinds())
	}
	if len(k.enum) > 0 {
		text = object{"anyOf": []object{{"enum": k.enum}, {"type": "string", "pattern": variablePattern}}}
	}
	if k.form == "name" {
		text["pattern"] = `^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$|` + variablePattern
	}
	return withDefault(text, k, func(s string) any { return s })
}

// bounded adds what a number's tags say. JSON schema cannot compare durations and sizes: their bounds are described.
func bounded(o object, t reflect.Type, k key) object {
	plain := o["type"] == "integer" || o["type"] == "number"
	number := func(s string) any {
		if f, err := strconv.ParseFloat(s, 64); err == nil && plain {
			return f
		}
		return s
	}
	if k.low != "" && plain {
		o["minimum"], o["maximum"] = number(k.low), number(k.high)
	}
	if t.Kind() == reflect.Uint64 {
		o["minimum"], o["maximum"] = 0, uint64(math.MaxUint64)
	}
	if k.low != "" && !plain {
		o["$comment"] = "between " + k.low + " and " + k.high
	}
	return withDefault(o, k, number)
}

func withDefault(o object, k key, read func(string) any) object {
	if k.preset != "" {
		o["default"] = read(k.preset)
	}
	return o
}

// comments maps Type.Field to the field's comment, from the package's own source.
func comments(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				commentsOf(spec, found)
			}
			return true
		})
	}
	return found
}

func commentsOf(spec *ast.TypeSpec, found map[string]string) {
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			found[spec.Name.Name+"."+name.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
		}
	}
}
