package messages

import (
	"octet/gateway/doors"
)

// leastBudget is the least of a thinking budget, in tokens.
const leastBudget = 1024

// thought writes how much the model is to reason. A budget is a most, which an effort stands for: chat completions have
// no other word.
func (c *chat) thought(m *[members]doors.Value) error {
	effort, err := effortOf(&m[outputConfig])
	if err != nil {
		return err
	}
	budget, err := effortOfBudget(&m[thinking])
	if err != nil {
		return err
	}
	if effort == "" {
		effort = budget
	}
	if effort != "" {
		c.Set("reasoning_effort", []byte(`"`+effort+`"`))
	}
	return nil
}

// effortOf returns the effort that output_config asks for.
func effortOf(v *doors.Value) (string, error) {
	if v.Absent() {
		return "", nil
	}
	var m [2]doors.Value
	if err := v.Members([]string{"effort", "format"}, m[:]); err != nil || m[0].Absent() {
		return "", err
	}
	return m[0].OneOf("low", "medium", "high", "xhigh", "max")
}

// effortOfBudget returns the effort that a budget stands for; "" leaves it to the model.
func effortOfBudget(v *doors.Value) (string, error) {
	if v.Absent() {
		return "", nil
	}
	var m [3]doors.Value
	if err := v.Members([]string{"type", "budget_tokens", "display"}, m[:]); err != nil {
		return "", err
	}
	kind, err := m[0].OneOf("enabled", "disabled", "adaptive")
	if err != nil {
		return "", err
	}
	if !m[2].Absent() {
		if _, err := m[2].OneOf("summarized"); err != nil {
			return "", m[2].Untranslatable()
		}
	}
	switch kind {
	case "disabled":
		return "none", nil
	case "adaptive":
		return "", nil
	}
	if m[1].Absent() {
		return "", m[1].Missing()
	}
	n, err := m[1].Whole(leastBudget)
	switch {
	case err != nil:
		return "", err
	case n < 4*leastBudget:
		return "low", nil
	case n < 16*leastBudget:
		return "medium", nil
	}
	return "high", nil
}

// format writes what an answer must look like.
func (c *chat) format(m *[members]doors.Value) error {
	format := m[outputFormat]
	if !m[outputConfig].Absent() {
		var in [2]doors.Value
		if err := m[outputConfig].Members([]string{"effort", "format"}, in[:]); err != nil {
			return err
		}
		if !in[1].Absent() {
			format = in[1]
		}
	}
	c.particular = c.particular || !m[outputFormat].Absent()
	if format.Absent() {
		return nil
	}
	var of [2]doors.Value
	if err := format.Members([]string{"type", "schema"}, of[:]); err != nil {
		return err
	}
	if _, err := of[0].OneOf("json_schema"); err != nil {
		return err
	}
	if of[1].Kind() != '{' {
		return of[1].Missing()
	}
	c.Member("response_format")
	c.Out = append(c.Out, `{"type":"json_schema","json_schema":{"name":"output","schema":`...)
	c.Out = append(append(c.Out, of[1].Raw()...), "}}"...)
	return nil
}
