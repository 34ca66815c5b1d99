// Package otlp sends traces to a receiver of the OpenTelemetry protocol over HTTP. It is the one room that knows
// OpenTelemetry's SDK.
//
//	Room, Take ─▶ queue (bounded) ─▶ run: batches ─▶ SDK's exporter ─▶ receiver
//	requests, never waiting          one goroutine
//
// 1. A request costs one send on a channel, or, where the queue is full, nothing: the trace is dropped and counted.
// 2. The receiver being down, slow or wrong is told in the log once when it begins and once when it is over.
// 3. Close sends what is queued, within a bound.
package otlp
