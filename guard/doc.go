// Package guard keeps out what must not come in. It knows the tokens of the
// callers that are not on this machine's socket: who holds one, and what its
// holder may see.
package guard
