package responses

import "octet/gateway/doors"

// contentOf returns the content of a message: a string, or a list of parts.
func contentOf(v *doors.Value, answer bool) (out []byte, err error) {
	if v.Kind() == '"' {
		return v.Raw, nil
	}
	out = append(out, '[')
	err = v.Each(func(part *doors.Value) error {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, err = appendPart(out, part, answer)
		return err
	})
	if err == nil && len(out) == 1 {
		err = v.Invalid("must hold at least one part")
	}
	return append(out, ']'), err
}

// appendPart appends one part of a content.
func appendPart(dst []byte, v *doors.Value, answer bool) ([]byte, error) {
	kind, err := v.Type()
	if err != nil {
		return dst, err
	}
	switch {
	case kind == "input_text" && !answer, kind == "output_text" && answer:
		return appendText(dst, v)
	case kind == "refusal" && answer:
		var m [2]doors.Value
		if err := v.Members([]string{"type", "refusal"}, m[:]); err != nil {
			return dst, err
		}
		return appendString(append(dst, `{"type":"text","text":`...), v, &m[1], "refusal", "}")
	case kind == "input_image" && !answer:
		return appendImage(dst, v)
	}
	return dst, v.Under("type").Untranslatable()
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
	return appendString(append(dst, `{"type":"text","text":`...), v, &m[1], "text", "}")
}

// appendImage appends an image by its URL.
func appendImage(dst []byte, v *doors.Value) ([]byte, error) {
	var m [3]doors.Value
	if err := v.Members([]string{"type", "image_url", "detail"}, m[:]); err != nil {
		return dst, err
	}
	dst, err := appendString(append(dst, `{"type":"image_url","image_url":{"url":`...), v, &m[1], "image_url", "")
	if m[2].Raw != nil && err == nil {
		dst, err = appendString(append(dst, `,"detail":`...), v, &m[2], "detail", "")
	}
	return append(dst, "}}"...), err
}

// appendString appends a string that must be there, and end.
func appendString(dst []byte, in, v *doors.Value, name, end string) ([]byte, error) {
	if v.Raw == nil {
		return dst, in.Missing(name)
	}
	_, err := v.Text()
	return append(append(dst, v.Raw...), end...), err
}
