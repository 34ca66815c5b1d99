// Package gate admits requests to one engine that batches itself.
package gate
