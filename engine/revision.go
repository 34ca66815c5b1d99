package engine

// Revision is where engines of a kind tell which weights they serve. What changes with every start, such as the time
// when a model was created, tells nothing of them, and neither does the build of the engine. The zero Revision
// tells nothing.
type Revision struct {
	// the list of models has, of the model, the path that its weights were loaded from (root) or their size (meta)
	Listed  bool
	Paths   []string // GET: the first that answers with an object
	Members []string // of that object: together they name the weights
}
