package artefacts

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"memd"
	"memd/guard/sources"
	"memd/internal/project"
	"memd/tiers"
)

// place is where a folder lies, and what its files are called as sources.
type place struct {
	folder    string // that is indexed, absolute and without links
	top       string // its working tree, itself outside of git
	within    string // the folder relative to the tree, with /
	prefix    string // the folder relative to the root of the sources, with /
	root      string // of the sources
	namespace string
	rooted    bool // the configuration names the root
}

// locate finds the place of the folder. Sources are relative to the folder that the
// configuration names for the namespace, else to the root that all working trees of
// the repository share: a linked worktree's files have the names of the main one's.
func locate(o Options) (p place, err error) {
	if p.folder, err = filepath.Abs(o.Folder); err == nil {
		p.folder, err = filepath.EvalSymlinks(p.folder)
	}
	if err != nil {
		return p, noFolder(err)
	}
	var shared string
	if p.top, shared, err = project.Trees(p.folder); err != nil {
		return p, noFolder(err)
	}
	if p.within, err = relative(p.top, p.folder); err != nil {
		return p, noFolder(err)
	}
	if p.namespace, err = namespaceOf(o, p.folder); err != nil {
		return p, err
	}
	home := filepath.Join(shared, filepath.FromSlash(p.within))
	p.root, p.rooted = o.Roots[p.namespace]
	if !p.rooted {
		p.root = shared
	}
	if real, err := filepath.EvalSymlinks(p.root); err == nil {
		p.root = real
	}
	if p.prefix, err = relative(p.root, home); err != nil || !filepath.IsLocal(p.prefix) {
		return p, memd.Errorf(memd.CodeInvalidRequest, "the folder lies outside the root of %s", p.namespace).
			WithHint("sources of %s are relative to %s (roots in the configuration); name another namespace, or mend the root", p.namespace, p.root)
	}
	return p, nil
}

func noFolder(err error) error {
	return &memd.Error{Code: memd.CodeInvalidRequest, Message: "the folder cannot be read", Err: err}
}

func relative(from, to string) (string, error) {
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}

func namespaceOf(o Options, folder string) (string, error) {
	if o.Namespace != "" {
		return o.Namespace, nil
	}
	id, err := project.ID(folder, o.Roots)
	if err != nil {
		return "", noFolder(err)
	}
	if id == "" {
		return "", memd.FieldErrorf(memd.CodeInvalidRequest, "namespace", "the folder belongs to no project").
			WithHint("name a namespace, such as --namespace user")
	}
	return "project/" + id, nil
}

// name is that of a file relative to the root of the sources.
func (p place) name(file string) string { return path.Join(p.prefix, file) }

// source is what cites a section of a file, whose name is relative to the root.
func source(name, anchor string) string {
	if !strings.Contains(name, "/") && !tiers.KnownSuffix(name) {
		name = "./" + name
	}
	cited := strings.NewReplacer("%", "%25", " ", "%20", "#", "%23").Replace(name)
	if anchor != "" {
		cited += "#" + anchor
	}
	return cited
}

// file is the name, relative to the indexed folder, of the file that a source cites;
// ok tells whether it lies in that folder.
func (p place) file(cited string) (name string, ok bool) {
	name, err := url.PathUnescape(sources.SplitPath(cited).File)
	if err != nil {
		return "", false
	}
	name = path.Clean(name)
	if p.prefix == "." {
		return name, true
	}
	return strings.CutPrefix(name, p.prefix+"/")
}
