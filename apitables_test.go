package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"octet/engine"
	"octet/gateway/apierr"
	"octet/gateway/doors/messages"
)

// row is one line of a table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// heading is the first two lines of a table.
func heading(cells ...string) string {
	return row(cells...) + "|" + strings.Repeat("---|", len(cells)) + "\n"
}

func quotedAll(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// errorTable has a row for each code: what its comment says, and what each door says.
func errorTable(t *testing.T) string {
	t.Helper()
	table := heading("status", "`code`", "`type`", "`type` on Messages", "cause", "cure")
	for _, c := range codesOf(t) {
		e := apierr.New(apierr.Code(c.code), "", "")
		if e.Status() == 0 {
			t.Errorf("%s has no status", c.code)
		}
		table += row(fmt.Sprint(e.Status()), "`"+c.code+"`", typeIn(t, e.AppendJSON(nil, "")),
			typeIn(t, messages.Door{}.AppendError(nil, e, "")), c.cause, c.cure)
	}
	return table
}

// typeIn returns the type of an error object.
func typeIn(t *testing.T, body []byte) string {
	t.Helper()
	var e struct{ Error struct{ Type string } }
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatal(err)
	}
	return "`" + e.Error.Type + "`"
}

// meaning is a code, and what its comment says.
type meaning struct{ code, cause, cure string }

// codesOf returns the codes in the order of their declarations.
func codesOf(t *testing.T) (all []meaning) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "gateway/apierr/code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || spec.Type == nil || fmt.Sprint(spec.Type) != "Code" {
			return true
		}
		code := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		cause, cure, told := strings.Cut(strings.Join(strings.Fields(spec.Doc.Text()), " "), " Cure: ")
		if !told || cause == "" || cure == "" {
			t.Errorf("the comment of %s says no cause and cure", code)
		}
		all = append(all, meaning{code, cause, cure})
		return false
	})
	slices.SortStableFunc(all, func(a, b meaning) int {
		return cmp.Compare(statusOf(a.code), statusOf(b.code))
	})
	return all
}

func statusOf(code string) int { return apierr.New(apierr.Code(code), "", "").Status() }

// enginesOf names the kinds of a set.
func enginesOf(by engine.Kinds) string {
	if by == engine.Every {
		return "all"
	}
	var names []string
	for _, k := range engine.AllKinds() {
		if by&k.Bit != 0 {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ")
}

// formOf says what the value of a member must be.
func formOf(m engine.Member) string {
	to := func(n float64) string {
		switch {
		case n >= 1e9:
			return "…"
		case n <= -1e9:
			return "… "
		}
		return fmt.Sprint(n)
	}
	within := fmt.Sprintf("%s to %s", to(m.Lo), to(m.Hi))
	within = strings.NewReplacer("…  to …", "", " to …", " and more").Replace(within)
	bytes := ""
	if m.Hi > 0 {
		bytes = fmt.Sprintf(" of at most %g bytes", m.Hi)
	}
	what := map[engine.Form]string{engine.Any: "any value", engine.Flag: "true, false",
		engine.Whole: "an integer, " + within, engine.Real: "a number, " + within, engine.Text: "a string" + bytes,
		engine.Texts: "a string or strings" + bytes, engine.Wholes: "integers, " + within,
		engine.Weights: "numbers by token, or a list of pairs", engine.Object: "an object",
		engine.Objects: "a list of objects"}[m.Form]
	if len(m.Not) > 0 {
		what += " without " + quotedAll(m.Not)
	}
	return strings.TrimSuffix(what, ", ")
}

// memberTable has the members that engines read, those of one form and set of kinds in a row.
func memberTable(t *testing.T) string {
	t.Helper()
	read := slices.Concat(namesIn(t, "gateway/wire", "sharedParams"), namesIn(t, "gateway/wire", "chatParams"),
		namesIn(t, "gateway/wire", "completionParams"))
	table, rows, names := heading("fields", "kinds", "value"), [][2]string{}, map[[2]string][]string{}
	for _, m := range engine.Members {
		if m.By == 0 {
			continue
		}
		key := [2]string{enginesOf(m.By), formOf(m)}
		if slices.Contains(read, m.Name) {
			key[1] = "as above"
		}
		if names[key] == nil {
			rows = append(rows, key)
		}
		names[key] = append(names[key], m.Name)
	}
	for _, key := range rows {
		table += row(quotedAll(names[key]), key[0], key[1])
	}
	return table
}

// refusedTable lists the members that reach no engine.
func refusedTable() string {
	var names []string
	for _, m := range engine.Members {
		if m.By == 0 {
			names = append(names, m.Name)
		}
	}
	for _, prefix := range engine.RefusedPrefixes {
		names = append(names, prefix+"…")
	}
	return quotedAll(names) + "\n"
}

// doorsOf names the doors of a set.
func doorsOf(set engine.Doors) string {
	var paths []string
	engine.DoorPaths(set, func(_ engine.Doors, path string) { paths = append(paths, path) })
	if paths == nil {
		return "none"
	}
	return quotedAll(paths)
}

// kindTable has a column for each kind of engine.
func kindTable() string {
	kinds := engine.AllKinds()
	yes := func(is bool) string { return map[bool]string{true: "yes", false: "no"}[is] }
	table := []string{""}
	for i := range kinds {
		table = append(table, "`"+kinds[i].Name+"`")
	}
	out := heading(table...)
	for _, line := range []struct {
		what string
		says func(k *engine.Kind) string
	}{
		{"goes on with chats", func(k *engine.Kind) string { return yes(k.Streams.Chats) }},
		{"goes on with reasoning", func(k *engine.Kind) string { return yes(k.Streams.Reasoning) }},
		{"goes on with completions", func(k *engine.Kind) string { return yes(k.Streams.Completions) }},
		{"goes on from token ids, exactly", func(k *engine.Kind) string { return yes(k.Streams.IDs) }},
		{"tokens of a stream are told", func(k *engine.Kind) string {
			return [...]string{"no", "by its usage", "by its timings"}[k.Streams.Counted]
		}},
		{"is known to tell its usage", func(k *engine.Kind) string { return yes(k.Streams.Usage) }},
		{"tools in its prompt", func(k *engine.Kind) string {
			return map[bool]string{true: "those that `tool_choice` leaves", false: "all"}[k.Rendering.Chosen]
		}},
		{"`response_format` in its prompt", func(k *engine.Kind) string { return yes(k.Rendering.Format) }},
		{"hands prompts over", func(k *engine.Kind) string {
			return [...]string{"no", "the decoder fetches", "both meet"}[k.Transfer]
		}},
		{"keeps caches of tenants apart", func(k *engine.Kind) string { return yes(k.TakesSalt) }},
		{"loads adapters", func(k *engine.Kind) string { return yes(k.Paths.LoadAdapter != "") }},
		{"doors that it may serve itself", func(k *engine.Kind) string { return doorsOf(k.Served.Doors) }},
		{"of them, with a tenant's salt", func(k *engine.Kind) string { return doorsOf(k.Served.Salted) }},
		{"of them, with a priority", func(k *engine.Kind) string { return doorsOf(k.Served.Ranked) }},
		{"passes on unknown fields", func(k *engine.Kind) string { return yes(k.PassUnknown) }},
	} {
		cells := []string{line.what}
		for i := range kinds {
			cells = append(cells, line.says(&kinds[i]))
		}
		out += row(cells...)
	}
	return out
}
