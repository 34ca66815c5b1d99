// Package lifetime has a context that is cheap where many are made and few end early: one a connection, one a turn of a
// request.
//
// It does what context.WithCancelCause does, with less: no channel before Done is called, no allocation for a Listener,
// nothing written into its parent before either.
//
//  1. A Context registers with its parent only once it has a Listener or Done was called, and takes that back when it
//     is cancelled. One that has registered must be cancelled.
//  2. Each listener is told once, on a goroutine of its own, or not at all once Unlisten was true.
package lifetime
