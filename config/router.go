package config

import "time"

// Unspecified names the intent of requests that declare none. An entry of this name under intents sets their
// thresholds; it cannot name a specialist.
const Unspecified = "unspecified"

// Intent is what a caller may declare in X-Intent. The thresholds' defaults depend on the name: codegen 0.30 and
// 0.20, review 0.85 and 0.40, any other 0.50 and 0.25.
type Intent struct {
	// Where this intent goes, without asking detectors or classifier; empty = routed by the text.
	Specialist string `yaml:"specialist" form:"name"`
	// Below this top-1 probability a shadow copy goes to the second choice.
	ShadowThreshold float64 `yaml:"shadow_threshold" range:"0..1"`
	// Below it, while the specialist is under load, the second choice answers instead.
	DivertThreshold float64 `yaml:"divert_threshold" range:"0..1"`
	// Requests of a lower priority are answered 429 priority_floor.
	PriorityFloor int `yaml:"priority_floor" default:"-100" range:"-100..100"`
}

// Rule sends texts that hold some literals to a specialist, before the built-in detectors are asked.
type Rule struct {
	// Unique; what receipts say.
	Name string `yaml:"name" required:"true" form:"name"`
	// Where such texts go.
	Specialist string `yaml:"specialist" required:"true" form:"name"`
	// What to look for, as it stands in the text: 2 to 128 bytes each, 256 in all rules together.
	Literals []string `yaml:"literals" required:"true"`
	// How many different ones have to be there.
	AtLeast int `yaml:"at_least" default:"1" range:"1..256"`
}

// Router decides which specialist answers: declared model, then declared intent, then detectors, then classifier.
type Router struct {
	// The model that looks at the text.
	Classifier Classifier `yaml:"classifier"`
	// Rules of one's own, at most 64; the first that holds decides.
	Rules []Rule `yaml:"rules"`
	// Structural detectors (sanitizer traces, CMake and linker errors, SFINAE-heavy headers …) decide before the
	// classifier.
	Detectors bool `yaml:"detectors" default:"true"`
	// The specialist that answers where the classifier is broken, absent or unsure; default the first specialist.
	Fallback string `yaml:"fallback" form:"name"`
	// What becomes of a request that belongs to no specialist: the fallback's, or 422 no_specialist.
	Reject string `yaml:"reject" default:"fallback" enum:"fallback refuse"`
	// Elements, as in <environment_details>…</environment_details>, that a client puts among what its user says and
	// that are not read, beside those of agents in wide use; at most 32.
	Asides []string `yaml:"asides" form:"name"`
	// What keeps a conversation with its specialist.
	Stickiness Stickiness `yaml:"stickiness"`
	// How a specialist or adapter of another version than before begins.
	Probation Probation `yaml:"probation"`
}

// Stickiness keeps a conversation (a session, else what begins with an earlier request: of a chat its messages, of a
// completion its prompt, of which the first MiB counts) where its cache is. It moves when the specialist now preferred
// is more probable by more than the cost of the cache and the margin; never while the last message is what a tool
// returned. What a request declares always wins.
type Stickiness struct {
	// The probability by which another specialist must be better, beside the cost of the cache; 1 = conversations never
	// move.
	Margin float64 `yaml:"margin" default:"0.1" range:"0..1"`
	// What 1000 tokens that would be computed again cost, as a probability.
	PerThousandTokens float64 `yaml:"per_1k_tokens" default:"0.02" range:"0..1"`
	// Conversations remembered; 0 = none, every request goes where its text says.
	Conversations int `yaml:"conversations" default:"65536" range:"0..10000000"`
}

// Probation is how a fresh lane begins: a specialist or adapter whose declared version is another than before, an
// adapter with another path, a specialist whose engines say that they serve another revision of its weights. It ends
// when as many of its answers were judged as its correctness needs, and the least that its pass rate could be (the
// lower bound of Wilson's 95 % interval) is at the floor of its specialist, also with no tenant's verdicts above half.
// Failures keep it on probation.
type Probation struct {
	// Takes the place of the intent's shadow_threshold for requests that a fresh lane answers, where it is higher.
	ShadowThreshold float64 `yaml:"shadow_threshold" default:"1" range:"0..1"`
	// Share of its requests that a fresh lane with a fallback answers itself; the fallback answers the others. What
	// names it as its model is always its own.
	Share float64 `yaml:"share" default:"0.5" range:"0..1"`
	// Where versions and verdicts so far are remembered over a restart; empty = nothing is remembered, and each start
	// is a first one.
	File string `yaml:"file"`
	// What a first start finds counts as known and good, as where the versions have served before; false = it begins on
	// probation. Without file each start is a first one, and the default is true; with it the default is false.
	Settled bool `yaml:"settled" default:"true"`
}

// Classifier is what looks at a text that no rule and no detector decides.
type Classifier struct {
	// builtin, or the path of an artefact that "octet train" wrote.
	Model string `yaml:"model" default:"builtin" form:"text"`
	// Which specialist each label of the artefact is for, where its name is another. What a label without a specialist
	// gets counts as rejected.
	Labels map[string]string `yaml:"labels"`
	// A verdict that takes longer is the fallback's.
	Timeout time.Duration `yaml:"timeout" default:"5ms" range:"100us..10s"`
	// The least probability at which a second choice may answer instead of the first.
	Viable float64 `yaml:"viable" default:"0.15" range:"0..1"`
	// A classifier out of process, which is asked before the model. The model decides where it gives no distribution in
	// time. It is sent what users write.
	HTTP ClassifierHTTP `yaml:"http"`
}

// ClassifierHTTP is asked by POST: {"text","labels"}. It answers {"probabilities": {label: probability}}: of the labels
// that it was asked about, with a sum of 1. After five failures in a row it is not asked for five seconds.
type ClassifierHTTP struct {
	// Its URL; empty = no classifier over HTTP. Proxies are not used and redirects are not followed.
	URL string `yaml:"url" form:"url"`
	// Bearer token that it wants; empty = none is sent.
	APIKey string `yaml:"api_key"`
	// Its time for a text, at most half of what the request's own deadlines leave; 0 = router.classifier.timeout.
	Timeout time.Duration `yaml:"timeout" default:"0s" range:"0s..10s"`
	// The specialist of each of its labels whose name is not the specialist's. The labels of a question are these, the
	// names of all other specialists, and "reject".
	Labels map[string]string `yaml:"labels"`
	// What is sent of a longer text: its head and its tail.
	Excerpt Size `yaml:"excerpt" default:"12KiB" range:"256..32KiB"`
}
