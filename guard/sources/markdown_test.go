package sources

import (
	"strings"
	"testing"
)

func TestSlugs(t *testing.T) {
	for title, want := range map[string]string{
		"Commands":                    "commands",
		"Build & test":                "build--test",
		"What's new in v1.2.3?":       "whats-new-in-v123",
		"`go test ./...` -- the rest": "go-test-----the-rest",
		"snake_case and kebab-case":   "snake_case-and-kebab-case",
		"Two  spaces":                 "two--spaces",
		"Größe ÄÖÜ":                   "größe-äöü",
		"ΟΔΟΣ":                        "οδοσ",
		"İstanbul":                    "i̇stanbul",
		"部署 说明：先测试":                   "部署-说明先测试",
		"インストール":                      "インストール",
		"हिन्दी शीर्षक":               "हिन्दी-शीर्षक",
		"العربية":                     "العربية",
		"🚀 Launch":                    "-launch",
		"❤️ Love":                     "️-love", // the mark that makes the heart red stays, as on GitHub
		":rocket: Launch":             "rocket-launch",
		"1. First":                    "1-first",
		"a\tb":                        "ab",
		"a‿b":                         "a‿b",
		"x² ½ Ⅷ ⓐ":                    "x--ⅷ-ⓐ",
		"🚀":                           "",
	} {
		if got := slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// What a heading says is told apart from how it is written.
func TestHeadingTexts(t *testing.T) {
	const definitions = "\n[ref]: https://example.com\n"
	for line, want := range map[string]string{
		"# Plain":                              "plain",
		"# Closed ##":                          "closed",
		"#   Spaced   ":                        "spaced",
		"  ## Indented":                        "indented",
		"# *em* **strong** `code`":             "em-strong-code",
		"# [link](https://e.org/a_b)":          "link",
		"# [ref]":                              "ref",
		"# [text][ref]":                        "text",
		"# [text][other]":                      "textother",
		"# ![badge](b.svg) Name":               "-name",
		"# <img src=x> Name":                   "-name",
		"# <https://e.org>":                    "httpseorg",
		"# A &amp; B &#8212; C":                "a--b--c",
		`# 1\. \*not em\*`:                     "1-not-em",
		"# `a\\_b` a\\_b":                      "a_b-a_b",
		"# 1. x":                               "1-x",
		"# snake_case_name":                    "snake_case_name",
		"Setext *one*\n===":                    "setext-one",
		"Setext\ntwo lines\n---":               "setexttwo-lines",
		"<h1 align=center>My <b>Page</b></h1>": "my-page",
	} {
		o := outlineOf(line + "\n" + definitions)
		if len(o.headings) != 1 || o.headings[0].name != want {
			t.Errorf("%q: %+v, want %s", line, o.headings, want)
		}
	}
	for _, none := range []string{"#no space", "####### seven", "    # code", "```\n# code\n```", "text\n    # lazy", "\\# escaped", "<!-- \n# comment\n-->", "---\n# meta: x\ntitle: x\n---\n"} {
		if o := outlineOf(none); len(o.headings) != 0 {
			t.Errorf("%q has headings: %+v", none, o.headings)
		}
	}
}

const page = `---
title: Not a heading
---

# Title

Intro.

## Commands

Run ` + "`make`" + `.

` + "```sh\n# Comment\n```" + `

### Details

More.

Setext
------

Under it.

## Commands

Again.

## Commands-1

Odd.

> ## Quoted
>
> said
>
> ## Second quoted

- item

  # In a list

  text

<a id="Explicit"></a>

## After an anchor

Text.

## <a name="within"></a>Within

Inside.

A paragraph <a id="mid"></a> with an anchor.

And one more.

## Given {#own}

Named.

## 标题

中文。
`

// part is page from one text up to another.
func part(from, to string) string {
	at := strings.Index(page, from)
	if to == "" {
		return page[at:]
	}
	return page[at : at+strings.Index(page[at:], to)]
}

func TestMarkdownSections(t *testing.T) {
	odd := part("## Commands-1", "## After")
	for anchor, want := range map[string]string{
		"title":                 page[strings.Index(page, "# Title"):],
		"commands":              part("## Commands", "Setext"),
		"Commands":              part("## Commands", "Setext"),
		"details":               part("### Details", "Setext"),
		"setext":                part("Setext", "## Commands"),
		"commands-1":            part("## Commands\n\nAgain", "## Commands-1"),
		"commands-1-1":          odd,
		"quoted":                part("> ## Quoted", "> ## Second"),
		"second-quoted":         part("> ## Second", "- item"),
		"in-a-list":             part("  # In a list", "<a id="),
		"Explicit":              part("<a id=\"Explicit", "## <a name"),
		"user-content-Explicit": part("<a id=\"Explicit", "## <a name"),
		"after-an-anchor":       part("## After", "## <a name"),
		"within":                part("## <a name", "## Given"),
		"mid":                   part("A paragraph", "## Given"),
		"own":                   part("## Given", "## 标题"),
		"given-own":             part("## Given", "## 标题"),
		"标题":                    part("## 标题", ""),
		"%E6%A0%87%E9%A2%98":    part("## 标题", ""),
		"user-content-commands": part("## Commands", "Setext"),
	} {
		for _, text := range []string{page, strings.ReplaceAll(page, "\n", "\r\n"), "\ufeff" + page} {
			if got := cite(t, "docs/a.md#"+anchor, text); got != want {
				t.Errorf("%s: %q, want %q", anchor, got, want)
			}
		}
	}
	for _, gone := range []string{"comment", "not-a-heading", "title-not-a-heading", "commands-2", "run-make", "explicit-2", "nothing", "intro"} {
		if got := cite(t, "docs/a.MD#"+gone, page); got != "missing: no such section" {
			t.Errorf("%s: %q", gone, got)
		}
	}
}

// A page made to keep its reader busy is read in time that grows as its length
// does: some of these would take minutes by the square of it.
func TestMarkdownThatTakesLong(t *testing.T) {
	for _, unit := range []string{">", "> ", "1. ", "+ ", "* a\n", "[a](", "![", "*a ", "# *a\n", "[a]: b\n", "<a id=b>", "<h1>", "- a\n  "} {
		text := strings.Repeat(unit, (1<<18)/len(unit)) + "\n\n# End\n"
		if got := cite(t, "a.md#end", text); strings.HasPrefix(got, "missing") {
			t.Errorf("%q: the end is not found: %s", unit, got)
		}
	}
}
