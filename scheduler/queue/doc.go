// Package queue orders the requests that wait for one engine: by priority, then by the tenants' shares, then by
// arrival.
package queue
