// Package lifetime has a context that is cheap where many are made and few end early: one a connection, one a turn of a
// request.
//
// It does what context.WithCancelCause does, with less: no channel before somebody asks for Done, no allocation for who
// wants to be told, nothing written into its parent before that.
//
//  1. A Context tells its parent of itself only once somebody wants to be told of its end, and takes that back when it
//     is cancelled. One that is watched must be cancelled.
//  2. Each listener is told once, on a goroutine of its own, or not at all once Unlisten was true.
package lifetime
