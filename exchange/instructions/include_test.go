package instructions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const outside = "no path inside the root"

// What a file includes comes before it, once.
func TestIncludes(t *testing.T) {
	p := newPlace(t)
	p.write("repo/AGENTS.md", "- a list\n@include a.md\n  @include \"docs/with space.txt\"\ntext @include no.md\n> @include no.md\n- @include no.md\n@includeno.md\n")
	p.write("repo/a.md", "@include docs/b.md\na\n")
	p.write("repo/docs/b.md", "b\n\n@include ./c.md")
	p.write("repo/docs/c.md", "c\n")
	p.write("repo/docs/with space.txt", "spaced\n@include ../docs/c.md\n")
	found := p.find()
	p.want(found, []string{"repo/docs/c.md", "repo/docs/b.md", "repo/a.md", "repo/docs/with space.txt", "repo/AGENTS.md"},
		map[string]string{"repo/docs/c.md": "it is given already"})
	by := map[string]string{}
	for _, part := range found.Parts {
		by[part.Path] = strings.TrimPrefix(part.IncludedBy, p.base+"/")
		if part.Path == "AGENTS.md" && part.Text != "- a list\ntext @include no.md\n> @include no.md\n- @include no.md\n@includeno.md\n" {
			t.Errorf("what is left is %q", part.Text)
		}
	}
	want := map[string]string{"docs/c.md": "repo/docs/b.md", "docs/b.md": "repo/a.md", "a.md": "repo/AGENTS.md", "docs/with space.txt": "repo/AGENTS.md", "AGENTS.md": ""}
	if diff := cmp.Diff(want, by); diff != "" {
		t.Error(diff)
	}
}

func TestIncludesInCodeAreNone(t *testing.T) {
	p := newPlace(t)
	code := "```\n@include x.md\n```\n\n~~~md\n@include x.md\n~~~\n\n    @include x.md\n\n- list\n\n  ```\n  @include x.md\n  ```\n\n<!--\n@include x.md\n-->\n\n`@include x.md`\n\n````\n```\n@include x.md\n````\n"
	p.write("repo/AGENTS.md", code+"\n```\n@include x.md\n")
	p.write("repo/x.md", "included")
	found := p.find()
	p.want(found, []string{"repo/AGENTS.md"}, nil)
	if got := found.Parts[0].Text; got != code+"\n```\n@include x.md\n" {
		t.Errorf("the text became %q", got)
	}
}

func TestIncludesEnd(t *testing.T) {
	p := newPlace(t)
	p.write("repo/AGENTS.md", "@include b.md\n@include AGENTS.md\n@include deep/1.md\na\n")
	p.write("repo/b.md", "@include ./AGENTS.md\nb\n")
	for i := 1; i < 8; i++ {
		p.write(fmt.Sprintf("repo/deep/%d.md", i), fmt.Sprintf("@include %d.md\ndepth %d\n", i+1, i))
	}
	p.want(p.find(), []string{"repo/b.md", "repo/deep/5.md", "repo/deep/4.md", "repo/deep/3.md", "repo/deep/2.md", "repo/deep/1.md", "repo/AGENTS.md"},
		map[string]string{"repo/AGENTS.md": "it includes itself", "repo/deep/6.md": "included too deep"})
}

// What people wrote for themselves includes any file, as deep as they like.
func TestUsersIncludeAnything(t *testing.T) {
	p := newPlace(t)
	p.write("home/config/AGENTS.md", "@include ~/notes/1.md\n@include "+p.at("etc/any.conf")+"\n@include ../../elsewhere/x.md\n@include gone.md\nmine\n")
	for i := 1; i < 20; i++ {
		p.write(fmt.Sprintf("home/notes/%d.md", i), fmt.Sprintf("@include %d.md\nn\n", i+1))
	}
	p.write("home/notes/20.md", "@include 1.md\nlast\n")
	p.write("etc/any.conf", "any")
	p.write("elsewhere/x.md", "x")
	p.write("dotfiles/CLAUDE.md", "linked")
	p.link(p.at("dotfiles/CLAUDE.md"), "home/config/CLAUDE.md")
	want := []string{}
	for i := 20; i > 0; i-- {
		want = append(want, fmt.Sprintf("home/notes/%d.md", i))
	}
	p.want(p.find(), append(want, "etc/any.conf", "elsewhere/x.md", "home/config/AGENTS.md", "home/config/CLAUDE.md"),
		map[string]string{"home/notes/1.md": "it includes itself", "home/config/gone.md": "no such file"})
}

// What lies in a project shows nothing from outside of it.
func TestProjectsIncludeNothingOutside(t *testing.T) {
	p := newPlace(t)
	const canary = "canary: outside"
	p.write("secret.md", canary)
	p.write("home/.ssh/id_rsa", canary)
	names := []string{
		"../secret.md", "docs/../../secret.md", p.at("secret.md"), "~/.ssh/id_rsa", "~root/x.md", `..\secret.md`, "．．/secret.md",
		"out.md", "up/secret.md", "docs", ".env", "gone.md", "docs/in.md/../../../secret.md",
	}
	var text strings.Builder
	for _, name := range names {
		text.WriteString("@include " + name + "\n")
	}
	for _, at := range []string{"repo/AGENTS.md", "repo/AGENTS.local.md", "repo/.agent/rules/r.md"} {
		p.write(at, text.String()+"own\n")
	}
	p.write("repo/.env", canary)
	p.write("repo/docs/in.md", "in")
	p.link(p.at("secret.md"), "repo/out.md")
	p.link("..", "repo/up")
	p.link(p.at("secret.md"), "repo/CLAUDE.md")
	p.link(p.at("secret.md"), "repo/.agent/rules/out.md")
	found := p.find()
	if got := p.origins(found); len(got) != 3 {
		t.Errorf("parts %v", got)
	}
	if len(found.Skipped) != 3*len(names)+2 {
		t.Errorf("%d are skipped: %v", len(found.Skipped), found.Skipped)
	}
	for _, s := range found.Skipped {
		if s.Reason == "" || strings.Contains(s.Reason, canary) {
			t.Errorf("%+v", s)
		}
	}
	if why := p.skipped(found); why["../secret.md"] != outside || why["~/.ssh/id_rsa"] != outside || why["repo/gone.md"] != "no such file" {
		t.Errorf("reasons %v", why)
	}
	if strings.Contains(found.Merged(), canary) {
		t.Error("a file from outside is shown")
	}
}
