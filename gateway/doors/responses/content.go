package responses

import "octet/gateway/doors"

// content writes the content of a message: a string, or a list of parts.
func (c *chat) content(v *doors.Value, answer bool) (err error) {
	if v.Kind() == '"' {
		c.Out = append(c.Out, v.Raw...)
		return nil
	}
	c.Out, err = appendParts(append(c.Out, '['), v, answer)
	c.Out = append(c.Out, ']')
	return err
}

// appendParts appends the parts of a content, of which there must be one.
func appendParts(dst []byte, v *doors.Value, answer bool) (out []byte, err error) {
	some := false
	err = v.Each(func(part doors.Value) error {
		if some {
			dst = append(dst, ',')
		}
		some = true
		dst, err = appendPart(dst, &part, answer)
		return err
	})
	if err == nil && !some {
		err = v.Invalid("must hold at least one part")
	}
	return dst, err
}

// The types of parts, by their places in partKinds.
const (
	inputText = iota
	outputText
	refusal
	inputImage
)

var partKinds = []string{"input_text", "output_text", "refusal", "input_image"}

// appendPart appends one part of a content.
func appendPart(dst []byte, v *doors.Value, answer bool) ([]byte, error) {
	kind, err := v.Type()
	if err != nil {
		return dst, err
	}
	switch i := kind.In(partKinds); {
	case i == inputText && !answer, i == outputText && answer:
		return appendText(dst, v)
	case i == refusal && answer:
		var m [2]doors.Value
		if err := v.Members([]string{"type", "refusal"}, m[:]); err != nil {
			return dst, err
		}
		_, err := m[1].Needed()
		return doors.AppendText(dst, m[1].Raw), err
	case i == inputImage && !answer:
		return appendImage(dst, v)
	}
	return dst, kind.Untranslatable()
}

// appendText appends a text, whose annotations and logprobs must be empty.
func appendText(dst []byte, v *doors.Value) ([]byte, error) {
	var m [4]doors.Value
	if err := v.Members([]string{"type", "text", "annotations", "logprobs"}, m[:]); err != nil {
		return dst, err
	}
	for i := 2; i < len(m); i++ {
		if m[i].Raw != nil && string(m[i].Raw) != "[]" {
			return dst, m[i].Untranslatable()
		}
	}
	_, err := m[1].Needed()
	return doors.AppendText(dst, m[1].Raw), err
}

// appendImage appends an image by its URL.
func appendImage(dst []byte, v *doors.Value) ([]byte, error) {
	var m [3]doors.Value
	if err := v.Members([]string{"type", "image_url", "detail"}, m[:]); err != nil {
		return dst, err
	}
	dst, err := appendString(append(dst, `{"type":"image_url","image_url":{"url":`...), &m[1], "")
	if m[2].Raw != nil && err == nil {
		dst, err = appendString(append(dst, `,"detail":`...), &m[2], "")
	}
	return append(dst, "}}"...), err
}

// appendString appends a string that must be there, and end.
func appendString(dst []byte, v *doors.Value, end string) ([]byte, error) {
	_, err := v.Needed()
	return append(append(dst, v.Raw...), end...), err
}
