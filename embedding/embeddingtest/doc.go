// Package embeddingtest holds what tests of vectors share: the suite that every
// [memd/embedding.Embedder] passes, an embedder that needs no model, and the
// handler of a server as [memd/embedding/openai] asks it.
package embeddingtest
