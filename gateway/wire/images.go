package wire

import (
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// imageMember is the type of parts that are images, and the member that says which.
const imageMember = "image_url"

// image is an image of a message, by the place where it stands: behind parts[:before].
type image struct {
	message, before uint32
	part            uint32 // its number among the message's parts
	url             text
}

// image reads {"url": …, "detail": …} and returns the url; the zero text without one.
func (p *parser) image() (url text) {
	p.Enter('{')
	for name, ok := p.key(); ok; name, ok = p.key() {
		if string(p.bytes(name)) == "url" && p.Peek() == '"' {
			url = p.text()
			continue
		}
		p.Skip()
	}
	return url
}

// addImage adds an image whose part begins at a place. Engines read data URLs themselves and fetch https ones; nothing
// else may be asked of them.
func (p *parser) addImage(at int, url text) {
	plain := p.bytes(p.plain(url))
	if !beginsWith(plain, "data:image/") && !beginsWith(plain, "https://") {
		p.refuseAt(at, CodeUnsupportedContent, "has no image_url.url that is a data URL of an image or an https URL")
		return
	}
	r := p.r
	r.images = append(r.images, image{message: uint32(len(r.messages) - 1), before: uint32(len(r.parts)),
		part: p.partNumber(), url: url})
}

// partNumber is the number of the part that is being read.
func (p *parser) partNumber() uint32 { return uint32(p.steps[(p.depth-1)&7].index) }

func beginsWith(s []byte, prefix string) bool {
	return len(s) > len(prefix) && string(s[:len(prefix)]) == prefix
}

// Images is the number of images in a chat.
func (r *Request) Images() int { return len(r.images) }

// FirstImage is the path of the first image's part; "" without images.
func (r *Request) FirstImage() string {
	if len(r.images) == 0 {
		return ""
	}
	return fmt.Sprintf("messages[%d].content[%d]", r.images[0].message, r.images[0].part)
}

// picture writes an image: by a digest behind a newline, which no wording has. Images of one url are alike.
func (w *writing) picture(m *image) {
	w.said("\nimage ")
	w.out = strconv.AppendUint(w.out, xxh3.Hash(w.r.p.bytes(m.url)), 16)
}

// pictures writes the images of a message that stand behind so many parts and are not written yet, and returns true if
// there are any.
func (w *writing) pictures(message int, before uint32) (some bool) {
	for images := w.r.images; w.pictured < len(images); w.pictured++ {
		m := &images[w.pictured]
		if int(m.message) > message || int(m.message) == message && m.before > before {
			break
		}
		w.picture(m)
		some = true
	}
	return some
}
