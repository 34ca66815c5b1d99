package lease

import "time"

// What waits for a receiver at most.
const (
	maxInbox   = 1024     // messages: peers send some fifty a second each
	inboxBytes = 16 << 20 // at least one message is kept, however long
	maxNews    = 8
)

// inbox is what is to be told. Guarded by Keeper.mu.
type inbox struct {
	messages []mail // oldest first
	bytes    int
	news     []error // for Away, oldest first
}

// mail is a message and when it came.
type mail struct {
	text []byte
	came time.Time
}

// push appends a message that comes now, and returns how many old ones it drops for it.
func (b *inbox) push(message []byte, now time.Time) (dropped int) {
	b.messages = append(b.messages, mail{message, now})
	for b.bytes += len(message); len(b.messages) > maxInbox || b.bytes > inboxBytes && len(b.messages) > 1; dropped++ {
		b.shift()
	}
	return dropped
}

// shift removes the oldest message.
func (b *inbox) shift() mail {
	m := b.messages[0]
	b.messages[0] = mail{}
	b.messages = b.messages[1:]
	b.bytes -= len(m.text)
	return m
}

// tell appends news. What was told too late to matter goes first.
func (b *inbox) tell(why error) {
	if b.news = append(b.news, why); len(b.news) > maxNews {
		b.news = b.news[1:]
	}
}
