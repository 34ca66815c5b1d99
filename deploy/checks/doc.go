// Package checks holds the chart and the compose file to what Kubernetes, Compose and the gateway take. It is a module
// of its own, so that the gateway's needs neither Helm nor Compose; it asks the gateway by its binary.
package checks
