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
	// Reach says of what is unchecked how far the look came.
	Reach Reach
}

// Reach is how far a look came that told neither that a source stands nor that it
// is missing.
type Reach int

const (
	Away   Reach = iota // nobody could look now: a root that is not there, an error
	Barred              // memd may not look, now or later: only people can
	Silent              // a page was asked for, and no answer came that tells
	There               // the artefact is there, and was not read
)

func stands(hash string) Found { return Found{Status: memd.SourceOK, Hash: hash} }
func missing(why string) Found { return Found{Status: memd.SourceMissing, Why: why} }
func unchecked(reach Reach, why string) Found {
	return Found{Status: memd.SourceUnchecked, Why: why, Reach: reach}
}

// Lacking is kept in the place of a hash where whoever looked found that the source
// does not say it any more: a section that still stands does not bear it out.
const Lacking = "missing"

// After is the status of a source that was held to be held, after the look; kept
// is the hash of its last verification, "" for none. That nobody could look says
// nothing against what was found before. That the artefact is there says that it is
// not missing, and no more; of one that is [Lacking] a look at its section says nothing.
func (f Found) After(held memd.SourceStatus, kept string) memd.SourceStatus {
	switch {
	case kept == Lacking:
		return memd.SourceMissing
	case f.Status == memd.SourceOK && kept != "" && f.Hash != "" && f.Hash != kept:
		return memd.SourceChanged
	case f.Status == memd.SourceOK, f.Status == memd.SourceMissing:
		return f.Status
	case f.Reach == There && held == memd.SourceMissing, f.Reach >= Silent && held == memd.SourceOK:
		return memd.SourceUnchecked
	}
	return held
}

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
		return unchecked(Barred, "a URL, which is not fetched")
	case aPerson:
		return unchecked(Barred, "a person or a session, which no one can look up")
	}
	root, ok := c.Root(namespace)
	if !ok {
		return unchecked(Barred, "no root is configured for the namespace")
	}
	return inFolder(root, SplitPath(source))
}

// Look is File, and fetches URLs where the Checker was told to. At the end of ctx
// it finds nothing out.
func (c *Checker) Look(ctx context.Context, namespace, source string) Found {
	if c.pages == nil || kindOf(source) != aPage {
		if ctx.Err() != nil {
			return unchecked(Away, stopped)
		}
		return c.File(namespace, source)
	}
	return c.LookOn(ctx, Page(source), []string{source})[0]
}

// LookOn is Look for sources that are URLs of one page, see Page: it is fetched
// once for all of them. What it found stands at their places.
func (c *Checker) LookOn(ctx context.Context, page string, cited []string) []Found {
	if c.pages != nil && ctx.Err() == nil {
		return c.pages.look(ctx, page, cited)
	}
	all := make([]Found, len(cited))
	for i, source := range cited {
		if all[i] = unchecked(Away, stopped); ctx.Err() == nil {
			all[i] = c.File("", source)
		}
	}
	return all
}

const stopped = "stopped before it was looked at"

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
