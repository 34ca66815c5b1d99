// Package decide picks the specialist that answers a request.
//
//	Route:    cascade -> conversation stays -> probation shares out -> shadow
//	Relieve:  a fallback stands in for a demoted one -> load diverts -> the demoted one is owed a copy
//	Floor:    priorities below what is in force are refused
//
// While the last message is what a tool returned, the conversation stays with the specialist that answered it last:
// nothing but a declaration, a demotion and the tenant's rights moves it.
//
// Each step changes the Decision and nothing else; the order is fixed. Steps read what is in force (breakers, load,
// knobs) without a lock and depend on no operator.
package decide
