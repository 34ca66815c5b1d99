// Package kubernetes finds the replicas of a specialist in the EndpointSlices of a service.
//
//	API server ──list, then watch──▶ watcher: the slices by name ──▶ view: endpoints merged by pod ──▶ tell(whole set)
//
// Invariants:
//
//  1. A pod is one replica, however many slices and address families have it.
//  2. A pod that is not ready, or that terminates, is not in the set: discovery drains it.
//  3. A watch that breaks, or a list that is refused, takes nothing away: it is told as an error, and tried again.
//  4. Slices of other namespaces and services are not looked at, whatever the API server sends.
package kubernetes
