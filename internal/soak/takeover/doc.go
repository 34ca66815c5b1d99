// Command takeover kills one of two real engines under streams of the real gateway, and compares every text with the
// one that an engine says undisturbed.
//
//	go run ./internal/soak/takeover -octet bin/octet \
//		-engine http://127.0.0.1:19001,tcp://127.0.0.1:19561,tcp://127.0.0.1:19571 -engine …
//
// The engines are started elsewhere, say one text for one prompt at temperature 0, and listen on this machine: the
// first one's process group gets SIGKILL when part of all texts has come.
//
// What it demands: every stream ends whole, with the undisturbed text, the undisturbed prompt's tokens and the
// undisturbed answer's tokens in its usage; and at least one went on elsewhere.
package main
