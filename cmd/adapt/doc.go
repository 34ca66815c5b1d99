// Package adapt reads the configurations of other routers, and writes them as ones of Octet's.
//
//		text ─▶ read ─▶ tree ─▶ LiteLLM | EPP | SGLang ─▶ draft ─▶ settle ─▶ YAML that octet check accepts
//		                 │                                  │          └ what it refuses is left out, with a note
//		                 └ what was not looked at: a note   └ what has a counterpart
//
//	 1. Nothing of the source is dropped in silence: each of its keys has a counterpart, or a note.
//	 2. No secret of the source is in the result or in a note: keys of engines become variables, keys of clients
//	    hashes.
//	 3. Cost is bounded: 1 MiB of text, 20,000 nodes with aliases expanded, 32 deep.
package adapt
