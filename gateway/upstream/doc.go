// Package upstream is what an engine is sent of a request: the client's body with the members that must change for the
// replica, and the fields of the head. Answers, legs before them, streams that go on elsewhere and shadows are written
// here.
//
//		client's body ── Prepare: model, priority, salt, counts ── Protocol.Request ── Segments ─▶ engine.Request
//
//	 1. What is not changed is forwarded as it came, by reference.
//	 2. A member that the client did not send and the engine need not see is not added.
package upstream
