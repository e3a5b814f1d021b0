package memd

import (
	"regexp"
	"strings"
)

// Limits that no configuration moves (contract sections 1, 4 and 5).
const (
	MaxKeyLen       = 200   // bytes of a memory_key
	MaxNamespaceLen = 128   // bytes of a namespace
	MaxSourceChars  = 1024  // code points of a source
	MaxReasonChars  = 4000  // code points of why, and of how_to_apply
	MaxTags         = 32    // tags of a row, and access tags of a row
	MaxTagChars     = 64    // code points of a tag
	MaxNameChars    = 200   // code points of owner, agent, session_id
	MaxQueryChars   = 32768 // code points of a query
	MaxBatch        = 50    // ids of one batch read
	MaxRecallLimit  = 100   // results of one recall
	MaxListLimit    = 200   // rows of one page
	MaxManifest     = 200   // lines of a manifest
	MaxSelected     = 5     // of these that a selector picks
	MaxTools        = 32    // tools in use that a request names
	MaxToolChars    = 64    // code points of a tool's name

	DefaultNamespace    = "default"
	DefaultImportance   = 5
	DefaultRecallLimit  = 10
	DefaultListLimit    = 50
	DefaultContextChars = 8000
)

var (
	keyForm       = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,200}$`)
	namespacePart = regexp.MustCompile(`^[a-z0-9._-]+$`)
)

// ValidKey reports whether s can be a memory_key.
func ValidKey(s string) bool { return keyForm.MatchString(s) }

// ValidNamespace reports whether s can be a namespace: lower-case parts of
// [a-z0-9._-] joined by "/", none of them "." or "..".
func ValidNamespace(s string) bool {
	if len(s) > MaxNamespaceLen {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "." || part == ".." || !namespacePart.MatchString(part) {
			return false
		}
	}
	return true
}
