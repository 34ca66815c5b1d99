package responses

import "octet/gateway/doors"

// content writes the content of a message: a string, or a list of parts.
func (c *chat) content(v *doors.Value, answer bool) (err error) {
	if v.Kind() == '"' {
		c.Out = append(c.Out, v.Raw()...)
		return nil
	}
	c.Out, err = c.appendParts(append(c.Out, '['), v, answer)
	c.Out = append(c.Out, ']')
	return err
}

// appendParts appends the parts of a content, of which there must be one.
func (c *chat) appendParts(dst []byte, v *doors.Value, answer bool) (out []byte, err error) {
	if v.Kind() != '[' {
		return dst, v.Invalid("must be an array")
	}
	some, cur := false, v.Again()
	err = doors.Objects(&cur, &c.part, partNames, func(part *doors.Object) error {
		if some {
			dst = append(dst, ',')
		}
		some = true
		dst, err = appendPart(dst, part, answer)
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

// The members of parts, by their places in partNames.
const (
	partType = iota
	partText
	partAnnotations
	partLogprobs
	partRefusal
	partImage
	partDetail
)

var partNames = []string{"type", "text", "annotations", "logprobs", "refusal", "image_url", "detail"}

// What a part of each kind may have.
var (
	textMembers    = doors.Of(partType, partText, partAnnotations, partLogprobs)
	imageMembers   = doors.Of(partType, partImage, partDetail)
	refusalMembers = doors.Of(partType, partRefusal)
)

// appendPart appends one part of a content.
func appendPart(dst []byte, part *doors.Object, answer bool) ([]byte, error) {
	kind := part.Type(partType)
	switch i := kind.In(partKinds); {
	case i == inputText && !answer, i == outputText && answer:
		return appendText(dst, part)
	case i == refusal && answer:
		if err := part.Only(refusalMembers); err != nil {
			return dst, err
		}
		text := part.Member(partRefusal)
		_, err := text.Needed()
		return doors.AppendText(dst, text.Raw()), err
	case i == inputImage && !answer:
		return appendImage(dst, part)
	}
	return dst, kind.Untranslatable()
}

// appendText appends a text, whose annotations and logprobs must be empty.
func appendText(dst []byte, part *doors.Object) ([]byte, error) {
	if err := part.Only(textMembers); err != nil {
		return dst, err
	}
	for _, i := range [...]int{partAnnotations, partLogprobs} {
		if v := part.Member(i); !v.Absent() && !none(&v) {
			return dst, v.Untranslatable()
		}
	}
	text := part.Member(partText)
	_, err := text.Needed()
	return doors.AppendText(dst, text.Raw()), err
}

// appendImage appends an image by its URL.
func appendImage(dst []byte, part *doors.Object) ([]byte, error) {
	if err := part.Only(imageMembers); err != nil {
		return dst, err
	}
	dst, err := appendString(append(dst, `{"type":"image_url","image_url":{"url":`...), part.Member(partImage))
	if detail := part.Member(partDetail); !detail.Absent() && err == nil {
		dst, err = appendString(append(dst, `,"detail":`...), detail)
	}
	return append(dst, "}}"...), err
}

// appendString appends a string that must be there.
func appendString(dst []byte, v doors.Value) ([]byte, error) {
	_, err := v.Needed()
	return append(dst, v.Raw()...), err
}
