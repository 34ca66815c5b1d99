package chattemplate

import "fmt"

// ToolForm is how an engine hands tools to its template. The zero ToolForm hands them over as they came.
type ToolForm struct {
	// Function are the members of a tool's function in order, and the JSON of one that a tool lacks; "" leaves it out.
	Function []struct{ Name, Missing string }
	Others   bool   // further members of a tool and of its function follow
	Only     string // the name of the one function that is handed over; "" for all
}

// tools returns the tools of c in their form; nil if there are none.
func (s *store) tools(c Chat) (any, error) {
	if c.Tools == nil {
		return nil, nil //nolint:nilnil // a template's none
	}
	v, err := s.decode(c.Tools)
	if err != nil {
		return nil, fmt.Errorf("%w: tools: %w", ErrRefused, err)
	}
	all, ok := v.(*list)
	if !ok || c.Form.Function == nil {
		return v, nil
	}
	kept := &list{}
	for _, item := range all.items {
		tool, _ := item.(*dict)
		var function *dict
		if tool != nil {
			given, _ := tool.get("function")
			function, _ = given.(*dict)
		}
		if function == nil {
			kept.items = append(kept.items, item)
			continue
		}
		if name, _ := function.get("name"); c.Form.Only != "" && name != c.Form.Only {
			continue
		}
		shaped, err := c.Form.tool(s, tool, function)
		if err != nil {
			return nil, err
		}
		kept.items = append(kept.items, shaped)
	}
	return kept, nil
}

// tool returns a tool whose function is given, in the form.
func (f *ToolForm) tool(s *store, tool, given *dict) (*dict, error) {
	function := &dict{}
	for _, m := range f.Function {
		v, has := given.get(m.Name)
		if !has && m.Missing != "" {
			var err error
			if v, err = s.decode([]byte(m.Missing)); err != nil {
				return nil, err
			}
			has = true
		}
		if has {
			function.put(m.Name, v)
		}
	}
	shaped := &dict{keys: []string{"type", "function"}, vals: []any{"function", function}}
	if kind, has := tool.get("type"); has {
		shaped.put("type", kind)
	}
	if f.Others {
		function.fill(given)
		shaped.fill(tool)
	}
	return shaped, nil
}

// fill adds the members of another dict that d lacks.
func (d *dict) fill(other *dict) {
	for i, key := range other.keys {
		if d.find(key) < 0 {
			d.put(key, other.vals[i])
		}
	}
}
