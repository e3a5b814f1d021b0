package instructions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// What cannot be taken is named with its reason, and the rest goes on.
func TestHostileFiles(t *testing.T) {
	p := newPlace(t)
	want := map[string]string{}
	bad := func(name, text, why string) {
		p.write("repo/.agent/rules/"+name, text)
		want["repo/.agent/rules/"+name] = why
	}
	bad("nul.md", "a\x00b", "it holds a NUL byte")
	bad("utf16.md", "\xff\xfea\x00", "it holds a NUL byte")
	bad("latin.md", "caf\xe9", "no text in UTF-8")
	bad("end.md", "---\npaths: [x]\ntext", "its frontmatter has no end")
	bad("long.md", "---\n#"+strings.Repeat("x", 5000)+"\n---\nx", "its frontmatter is too long")
	bad("key.md", "---\npath: [x]\n---\nx", `line 2 of its frontmatter: unknown field "path"`)
	bad("twice.md", "---\nname: a\npaths: [x]\npaths: [y]\n---\nx", `line 4 of its frontmatter: mapping key "paths" already defined at [2:1]`)
	bad("word.md", "---\n"+strings.Repeat("k", 3000)+": x\n---\nx", `line 2 of its frontmatter: unknown field "`+strings.Repeat("k", 200-len(`unknown field "`))+"…")
	bad("number.md", "---\npaths: [1]\n---\nx", "paths are globs in quotes")
	bad("map.md", "---\npaths: {a: b}\n---\nx", "paths are globs in quotes")
	bad("none.md", "---\npaths: []\n---\nx", "its paths are empty")
	bad("null.md", "---\npaths:\n---\nx", "its paths are empty")
	bad("tilde.md", "---\nname: x\npaths: ~\n---\nx", "its paths are empty")
	bad("blank.md", "---\npaths: ['']\n---\nx", "glob 1 of its paths is empty or too long")
	bad("not.md", "---\npaths: ['a', '!b']\n---\nx", "glob 2 of its paths excludes files, which globs of rules do not")
	bad("glob.md", "---\npaths: ['[a']\n---\nx", "glob 1 of its paths is no glob")
	bad("braces.md", "---\npaths: ['"+strings.Repeat("{a,b}", 50)+"']\n---\nx", "glob 1 of its paths has too many alternatives")
	bad("many.md", "---\npaths: ["+strings.Repeat("a,", 64)+"a]\n---\nx", "more globs than are read of a rule")
	bad("50mb.md", "", "larger than what is read of a file")
	must(t, os.Truncate(p.at("repo/.agent/rules/50mb.md"), 50<<20))
	must(t, os.Mkdir(p.at("repo/.agent/rules/folder.md"), 0o755))
	want["repo/.agent/rules/folder.md"] = "no regular file, but a folder"
	p.link("loop.md", "repo/.agent/rules/loop.md")
	want["repo/.agent/rules/loop.md"] = "a link that leads to itself"
	p.link("gone.md", "repo/.agent/rules/nowhere.md")
	want["repo/.agent/rules/nowhere.md"] = "no such file"
	p.link(p.at("home"), "repo/sub/.agent")
	p.write("home/rules/x.md", "of the user")
	p.write("repo/.agent/rules/crlf.md", "\xef\xbb\xbf---\r\nname: x\r\n---\r\none\r\n@include ../../bom.md\r\ntwo\rthree")
	p.write("repo/bom.md", "\xef\xbb\xbfbom\r\n")
	p.write("repo/empty.md", "")
	p.write("repo/AGENT.md", " \n\n")
	p.write("repo/AGENTS.md", "fine\n")
	p.write("home/config/AGENTS.md", "nul\x00")
	want["home/config/AGENTS.md"] = "it holds a NUL byte"
	p.o.Folder = p.at("repo/sub")
	found := p.find()
	for name, why := range p.skipped(found) { // links that lead out have the system's words
		if strings.HasPrefix(name, "repo/sub/.agent") {
			want[name] = why
		}
	}
	if want["repo/sub/.agent/rules"] == "" {
		t.Error("a link out of the project is not told")
	}
	p.want(found, []string{"repo/AGENTS.md", "repo/bom.md", "repo/.agent/rules/crlf.md"}, want)
	if got := found.Parts[1].Text + found.Parts[2].Text; got != "bom\none\ntwo\nthree\n" {
		t.Errorf("the texts are %q", got)
	}
}

// No layer is kept out by what another holds, and none is read without end.
func TestBounds(t *testing.T) {
	p := newPlace(t)
	text := strings.Repeat("0123456789abcde\n", 12<<10) // 192 KiB
	for i := range 700 {
		if i < 10 {
			p.write(fmt.Sprintf("repo/.agent/rules/%03d.md", i), text)
		} else {
			p.write(fmt.Sprintf("repo/.agent/rules/%03d.md", i), "short")
		}
	}
	p.write("repo/AGENTS.md", strings.Repeat("@include ../x.md\n", 2000)+"own\n")
	p.write("repo/AGENTS.local.md", "mine")
	found := p.find()
	parts, skipped, bytes := map[string]int{}, map[string]int{}, 0
	for _, part := range found.Parts {
		parts[string(part.Layer)]++
		bytes += len(part.Text)
	}
	for _, s := range found.Skipped {
		skipped[string(s.Layer)]++
	}
	if parts["rules"] != 5+490 || skipped["rules"] != 5+1 || parts["project"] != 1 || skipped["project"] != 500 || parts["local"] != 1 {
		t.Errorf("parts %v, skipped %v", parts, skipped)
	}
	if bytes > 1<<20+100 {
		t.Errorf("%d bytes", bytes)
	}
}

// Neither matching nor reading takes time beyond the length of what is read.
func TestCostlyTexts(t *testing.T) {
	p := newPlace(t)
	p.o.Path = strings.Repeat("a", 200) + "/" + strings.Repeat("a/", 500) + "b"
	p.write("repo/.agent/rules/stars.md", "---\npaths: ['"+strings.Repeat("**/a*a*", 70)+"c']\n---\nx")
	p.write("repo/.agent/rules/braces.md", "---\npaths: ['"+strings.Repeat("{a,a,aa,*,**/a,a*,?}", 2)+"c']\n---\nx")
	bomb := "name: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	p.write("repo/.agent/rules/bomb.md", "---\n"+bomb+"paths: *k\n---\nx")
	p.write("repo/.agent/rules/nested.md", "---\npaths: "+strings.Repeat("[", 4000)+"\n---\nx")
	for i, line := range []string{"> ", "- ", "1. ", "[", "![](", "<!--", "<a ", "*", "`", "@include\n", "@include ", "\t", "---\n@include"} {
		p.write(fmt.Sprintf("repo/.agent/rules/text%02d.md", i), strings.Repeat(line, 40<<10/len(line))+"\n@include x.md")
		p.write(fmt.Sprintf("repo/.agent/rules/lines%02d.md", i), "@include x.md\n"+strings.Repeat(line+"\n", 30<<10/len(line)))
	}
	found := p.find()
	why := p.skipped(found)
	if why["repo/.agent/rules/bomb.md"] == "" || why["repo/.agent/rules/nested.md"] == "" || len(found.Parts) < 20 {
		t.Errorf("%d parts, %d skipped", len(found.Parts), len(why))
	}
}

// Nor does a page of rules with the costliest globs that are taken.
func TestCostlyGlobs(t *testing.T) {
	p := newPlace(t)
	p.o.Path = "src/aaaaaaaaaaaaaaaaaaaa/aaaaaaaaaaaa/aaaaaaaaaaaaaaaa/b.go"
	glob := "'**/" + strings.Repeat("{*,*a*,*,*,*,*,*,*,*}", 2) + "c'"
	for i := range 100 {
		p.write(fmt.Sprintf("repo/.agent/rules/globs%03d.md", i), "---\npaths: ["+strings.Repeat(glob+",", 31)+glob+"]\n---\nx")
	}
	if found := p.find(); len(found.Parts) != 100 {
		t.Errorf("%d parts", len(found.Parts))
	}
}
