package tiers

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
	"memd/guard/sources"
)

// The grammar of a source (contract section 1): path[#anchor][:line], an
// http(s) URL, and for kinds that people state also "user" or "session:<id>".
// Prose that only looks like a file (v1.2.3, node.js, e.g.) and another memory
// (an id, a memd:// URI, a memory_key) are no sources. guard/sources takes one
// apart and looks at it.

var (
	fileSuffix = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,9}$`)
	uuidForm   = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// suffixes are those a bare file name (without a folder) may end in: with a
// folder any suffix will do, without one a memory_key looks the same.
const suffixes = ` md mdx markdown rst adoc txt org tex pdf doc docx odt html htm ipynb
 go mod sum work py pyi rb rs c h cc cpp cxx hh hpp m mm swift kt kts java scala clj cljs ex exs erl hs ml fs cs vb
 js jsx ts tsx mjs cjs vue svelte css scss less php pl pm lua r jl dart zig nim v sh bash zsh fish ps1 bat cmd sql
 proto thrift graphql avsc json jsonc json5 yaml yml toml ini cfg conf properties env xml csv tsv lock gradle bzl bazel
 cmake mk tf tfvars hcl nix dockerfile service rules log patch diff `

// bareFiles are artefacts without a suffix.
const bareFiles = ` makefile gnumakefile dockerfile containerfile jenkinsfile vagrantfile procfile rakefile gemfile justfile
 taskfile caddyfile brewfile license licence notice readme changelog contributing codeowners authors security version build workspace `

// notFiles are products that are written like files.
const notFiles = ` node.js next.js nuxt.js vue.js react.js angular.js ember.js backbone.js express.js three.js d3.js deno.ts
 nest.js socket.io asp.net moment.js p5.js chart.js alpine.js solid.js knockout.js electron.js `

// listed reports whether word is one of the words of list.
func listed(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}

// checkSource says what is wrong with a source for a memory of kind k, "" if
// nothing.
func checkSource(source string, k memd.Kind) string {
	switch {
	case strings.HasPrefix(source, "memd:"), uuidForm.MatchString(source):
		return "another memory is no source"
	case source == "user", strings.HasPrefix(source, "session:"):
		if !k.Personal() {
			return "a person or a session is a source for the kinds preference, user and feedback alone"
		}
		if id, ok := strings.CutPrefix(source, "session:"); ok && (id == "" || strings.IndexFunc(id, unicode.IsSpace) >= 0) {
			return "session: must be followed by the session's id"
		}
		return ""
	case strings.Contains(source, "://"):
		u, err := url.Parse(source)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.IndexFunc(source, unicode.IsSpace) >= 0 {
			return "only a whole http or https URL is a source"
		}
		return ""
	}
	return checkPath(source)
}

// checkPath checks path[#anchor][:line].
func checkPath(source string) string {
	p := sources.SplitPath(source)
	file := p.File
	if plain, err := url.PathUnescape(file); err != nil {
		return "a % in a path begins an escape such as %20"
	} else if plain != file { // what is refused plain is refused escaped
		if wrong := checkPath(strings.ReplaceAll(plain, " ", "_")); wrong != "" {
			return wrong
		}
	}
	switch {
	case p.Anchored && p.Anchor == "":
		return "the anchor after # is empty"
	case file == "":
		return "the path is empty"
	case strings.IndexFunc(source, unicode.IsSpace) >= 0:
		return "a path has no spaces; write %20 for one"
	case strings.IndexFunc(source, unicode.IsControl) >= 0:
		return "a path has no control characters"
	case strings.ContainsAny(file, `\:*?"<>|`):
		return "a path is written with / and without any of \\ : * ? \" < > |"
	case path.IsAbs(file), file[0] == '~', path.Clean(file) == "..", strings.HasPrefix(path.Clean(file), "../"):
		return "a path is relative to the namespace's root and stays inside it"
	}
	return checkName(file)
}

// checkName tells the name of a file from prose and from a memory_key. With a
// folder before it any name will do, as long as no memory has it for its key
// (see looksLikeKey).
func checkName(file string) string {
	base := strings.ToLower(path.Base(file))
	if strings.EqualFold(file, "n/a") {
		return "the path names no file"
	}
	if base == "." || base == ".." || strings.HasSuffix(file, "/") {
		return "the path names no file"
	}
	if strings.Contains(file, "/") {
		return ""
	}
	dot := strings.LastIndexByte(base, '.')
	switch {
	case dot < 0 && listed(bareFiles, base), dot == 0 && fileSuffix.MatchString(base[1:]): // Makefile, .gitignore
		return ""
	case dot < 0, !fileSuffix.MatchString(base[dot+1:]), listed(notFiles, base), !listed(suffixes, base[dot+1:]):
		return "the name is no file's that memd knows: put its folder before it, as in ./deploy"
	}
	return ""
}

// looksLikeKey reports whether a source could as well be a memory_key: a plain
// path whose name has no suffix of a file.
func looksLikeKey(source string) bool {
	dot := strings.LastIndexByte(source, '.')
	return memd.ValidKey(source) && (dot < strings.LastIndexByte(source, '/') || !listed(suffixes, strings.ToLower(source[dot+1:])))
}

// CheckSource checks the optional source of a memory, as a write does.
func CheckSource(value string, k memd.Kind) error { return source(value, k) }

// source checks an optional source.
func source(value string, k memd.Kind) error {
	if value == "" {
		return nil
	}
	if err := clean("source", value); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(value); n > memd.MaxSourceChars {
		return memd.FieldErrorf(memd.CodeTooLarge, "source", "source has %d characters, at most %d are allowed", n, memd.MaxSourceChars)
	}
	if wrong := checkSource(value, k); wrong != "" {
		return memd.FieldErrorf(memd.CodeInvalidRequest, "source", "source is no source: %s", wrong)
	}
	return nil
}

// durableSource checks the source a long row cannot do without. Whatever is
// wrong with it, what is missing is a source.
func durableSource(value string, k memd.Kind) error {
	if !visible(value) {
		return noSource("it is missing")
	}
	err := source(value, k)
	if e, ok := err.(*memd.Error); ok && e.Code == memd.CodeInvalidRequest {
		return noSource(e.Message)
	}
	return err
}

func noSource(why string) *memd.Error {
	return memd.FieldErrorf(memd.CodeMissingSource, "source", "a long-term memory needs a source: %s", why).
		WithHint("name the artefact it rests on, such as AGENTS.md#commands, pkg/x.go:12 or a URL")
}

// statusOf is the status of a source nobody has looked at yet.
func statusOf(source string) memd.SourceStatus {
	if source == "" {
		return memd.SourceNone
	}
	return memd.SourceUnchecked
}
