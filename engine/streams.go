package engine

// Streams says how the streams of a kind of engine are counted, and which of them the engine goes on with where another
// engine has begun them.
//
// A completion at vLLM goes on from the ids of its tokens, where each event has brought one, and there is no stop
// string: exactly. All else goes on from the text that came. That is tokenized anew, and may become other tokens than
// those it was generated as: where the tokens are not those that the tokenizer would make of prompt and text together,
// most of all where the two meet, and in chats where the template trims the last message. Bytes that were no UTF-8 came
// as U+FFFD, and go on as that. The count is exact all the same; what follows is then what the model says after that
// text. Where an event brings several tokens (vLLM's and SGLang's --stream-interval), or a request has stop strings,
// some of the tokens that were told may have text that the engine still held back: it is generated again, and the
// answer is shorter than max_tokens by as many tokens, never longer.
type Streams struct {
	Counted     Counting
	Chats       bool // it goes on with a chat whose last message is the assistant's
	Completions bool // it goes on with a prompt of text
	// Reasoning: of such a message it shows the model the reasoning too, which is left open where there is no text. Not
	// every model's template does. The prompt that the engine then counts tells
	Reasoning bool
	// return_token_ids brings the ids of a completion's prompt and tokens, from which it goes on exactly
	IDs bool
	// stream_options.include_usage brings the usage at the end. A kind of which nothing is known may refuse to be asked
	Usage bool
	// its events lack what OpenAI's clients rely on: the role in the first delta of a choice, and the usage in a chunk
	// of its own without choices
	Untidy bool
}

// Counting is how the events of a stream tell how many tokens their choice has brought so far.
type Counting uint8

// The ways in which streams are counted. Where nothing tells, an event of output is taken for a token, and an answer
// with max_tokens is not gone on with.
const (
	CountsNothing Counting = iota
	CountsUsage            // a usage in every event, asked for by stream_options.continuous_usage_stats
	CountsTimings          // timings.predicted_n in every event, asked for by timings_per_token
)
