// Package apierr is the error that clients see: its closed list of codes, the HTTP status of each, its JSON and its
// Retry-After. It knows nothing of the errors of other packages: gateway/fault maps them to codes.
//
//	any error  →  fault.Of  →  *Error  →  Status, RetryAfterHeader, AppendJSON  →  client
package apierr
