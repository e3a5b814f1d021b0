// Package sources looks at the artefacts that memories rest on: whether what a
// source names still stands, and whether it says what it said. It reads files
// inside the folder of the memory's namespace alone, and fetches URLs only where
// it was told to.
package sources

import (
	"context"
	"maps"
	"path/filepath"
	"strings"
	"time"

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

func stands(hash string) Found   { return Found{Status: memd.SourceOK, Hash: hash} }
func missing(why string) Found   { return Found{Status: memd.SourceMissing, Why: why} }
func unchecked(why string) Found { return Found{Status: memd.SourceUnchecked, Why: why} }

// Checker looks at sources. It is safe for concurrent use.
type Checker struct {
	roots map[string]string // absolute folders by namespace
	pages *pages            // nil where no URL is fetched
}

// New makes a Checker that looks for the files of a namespace in its root.
func New(roots map[string]string) *Checker { return &Checker{roots: maps.Clone(roots)} }

// URLTimeout is how long a page may take where nothing else is said.
const URLTimeout = 10 * time.Second

// WithURLs returns a Checker that also fetches URLs, each within the timeout, 0
// for URLTimeout.
func (c *Checker) WithURLs(timeout time.Duration) *Checker {
	fetching := *c
	if timeout <= 0 {
		timeout = URLTimeout
	}
	fetching.pages = newPages(timeout)
	return &fetching
}

// Root is the folder that the sources of a namespace are relative to.
func (c *Checker) Root(namespace string) (path string, ok bool) {
	if path, ok = c.roots[namespace]; !ok {
		return "", false
	}
	return filepath.Clean(path), true
}

// File looks at a source that is a file, and at no other: it never waits for a
// network. A source of another kind, and one of a namespace without a root, is
// unchecked.
func (c *Checker) File(namespace, source string) Found {
	switch kindOf(source) {
	case aPage:
		return unchecked("a URL, which is not fetched")
	case aPerson:
		return unchecked("a person or a session, which no one can look up")
	}
	root, ok := c.Root(namespace)
	if !ok {
		return unchecked("no root is configured for the namespace")
	}
	return inFolder(root, SplitPath(source))
}

// Look is File, and fetches URLs where the Checker was told to. At the end of ctx
// it finds nothing out.
func (c *Checker) Look(ctx context.Context, namespace, source string) Found {
	if ctx.Err() != nil {
		return unchecked("stopped before it was looked at")
	}
	if c.pages != nil && kindOf(source) == aPage {
		return c.pages.look(ctx, source)
	}
	return c.File(namespace, source)
}

// kind is what kind of thing a source names.
type kind int

const (
	aFile kind = iota
	aPage
	aPerson // or what a person said in a session
)

func kindOf(source string) kind {
	switch {
	case source == "", source == "user", strings.HasPrefix(source, "session:"):
		return aPerson
	case strings.Contains(source, "://"):
		return aPage
	}
	return aFile
}
