package tiers

import (
	"path"
	"strings"

	"memd"
)

// SourceFault says what is wrong with the source of a stored row of kind k, ""
// if nothing: one that was edited by hand may be none.
func SourceFault(source string, k memd.Kind) string {
	if !visible(source) {
		return "it is missing"
	}
	return checkSource(source, k)
}

// MayBeKey reports whether a source could as well be a memory_key, so that
// whether it is another memory only the heads tell.
func MayBeKey(source string) bool { return looksLikeKey(source) }

// NamesFile reports whether a bare name, without a folder, can only be that of a
// file: its suffix is one of a file's, and it is no product that is written like
// one (node.js).
func NamesFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot > 0 && checkName(name) == "" && KnownSuffix(name)
}

// KnownSuffix reports whether the last name of a path ends in a suffix of files.
func KnownSuffix(file string) bool {
	base := strings.ToLower(path.Base(file))
	dot := strings.LastIndexByte(base, '.')
	return dot >= 0 && listed(suffixes, base[dot+1:])
}
