// Package embedding turns texts into vectors behind one small interface.
//
// A provider is a package below this one: openai asks a server, static looks
// words up in a local table. No embedder at all, the default, is a nil
// [Embedder]: nobody calls it, and keyword and metadata recall are whole
// without it. Package embeddingtest holds the suite that every provider passes.
package embedding

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Embedder makes vectors of one model. It is safe for concurrent use.
type Embedder interface {
	// Model names the space of the vectors, the same for as long as the
	// Embedder lives. Vectors compare only with those of an equal Model: any
	// change that moves them, of the model, its table or its settings, changes
	// the name.
	Model() string

	// Dim is the length of every vector, at least 1 and constant.
	Dim() int

	// Embed returns one vector for each text, in their order. Each is Dim()
	// finite numbers of unit length (within 1e-4), is the caller's to keep and
	// change, and does not depend on the texts beside its own.
	//
	// An entry is nil where the text has no vector and never will have, such
	// as an empty one or, of a table, one without any known word. That is no
	// error, and trying again changes nothing.
	//
	// With an error the vectors are those of a prefix of texts, perhaps of
	// none; that prefix is good and the error is about the rest. [*Refused]
	// names texts of the prefix that got nil for a vector nobody can use, and
	// may come with the whole prefix or joined with the error that ended it.
	// [*Fault] is what else may go wrong, beside the context's own error. No
	// error holds a text, a key or a vector.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Refused is the error of texts whose vectors were asked for and could not be
// used. Another try may give others.
type Refused struct {
	Texts map[int]error // why, by the index into the texts
}

// Error tells how many texts, and the reason of the first.
func (e *Refused) Error() string {
	indexes := slices.Sorted(maps.Keys(e.Texts))
	if len(indexes) == 0 {
		return "no vector refused"
	}
	return fmt.Sprintf("%d vectors refused, the first because %v", len(indexes), e.Texts[indexes[0]])
}

// Fault is the failure of an embedder as such, whatever the texts.
type Fault struct {
	Passing bool          // may pass by itself; else the operator has to act
	After   time.Duration // when it is worth to try again, 0 if unknown
	Err     error         // the cause
}

// Error is the text of the cause.
func (e *Fault) Error() string { return "embed: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Fault) Unwrap() error { return e.Err }
