package instructions

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"

	"memd/guard/confine"
	"memd/internal/project"
)

// Layer is who a file speaks for.
type Layer string

// The layers, the weakest first.
const (
	Managed Layer = "managed" // the administrator of the machine
	User    Layer = "user"
	Project Layer = "project" // the project's files, from its root down to the working folder
	Rules   Layer = "rules"   // the project's .agent/rules/*.md, in the same order
	Local   Layer = "local"   // what a user keeps beside the project's files, and out of git
)

// Bounds on what is read.
const (
	maxFile  = 256 << 10 // bytes of a file
	maxLayer = 1 << 20   // bytes of a layer
	maxFiles = 500       // files of a layer, those that are skipped among them
	maxDepth = 5         // files above one that a project's file includes

	maxTarget = 1024 // bytes of what names a file to include
)

// rulesFolder holds rules, below the folders of a project.
const rulesFolder = ".agent/rules"

// Options say where to look.
type Options struct {
	Folder string // the working folder
	// Path is the file that is worked on, absolute or relative to Folder, "" for
	// none. It need not exist.
	Path    string
	Names   []string // of the files looked for in each folder, the weakest first, with /
	Managed string   // the administrator's folder
	User    []string // the user's folders, the weakest first
	Home    string   // what ~/ stands for in the user's files, "" for nothing
	// Roots lend a project its name, as in project.ID.
	Roots map[string]string
}

// Part is the text of one file.
type Part struct {
	Origin string `json:"origin"` // the absolute path
	Layer  Layer  `json:"layer"`
	Path   string `json:"path"` // with /, relative to the project or to the layer's folder
	Text   string `json:"text"` // without frontmatter and include lines, lines end with \n
	// Paths are the globs of a rule, relative to the folder that holds its .agent.
	Paths   []string `json:"paths,omitempty"`
	Applies bool     `json:"applies"` // false where Paths match no Options.Path
	// IncludedBy is the origin of the file that includes it, and stands behind it.
	IncludedBy string `json:"included_by,omitempty"`
}

// Skipped is a file or a folder that was not taken, and why.
type Skipped struct {
	Origin     string `json:"origin"`
	Layer      Layer  `json:"layer"`
	Reason     string `json:"reason"`
	IncludedBy string `json:"included_by,omitempty"`
}

// Found is what holds for a folder.
type Found struct {
	// Project is the id that all working trees of the repository share, "" for none.
	Project string    `json:"project"`
	Top     string    `json:"top"` // the folder of the working tree
	Parts   []Part    `json:"parts"`
	Skipped []Skipped `json:"skipped"`
}

// Find reads the files that hold for a folder. What cannot be taken is named in the
// answer, and the rest goes on; an error is about Options.Folder.
func Find(o Options) (*Found, error) {
	folder, err := filepath.Abs(o.Folder)
	if err != nil {
		return nil, err
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, err
	}
	top, root, err := project.Trees(folder)
	if err != nil {
		return nil, err
	}
	id, err := project.ID(folder, o.Roots)
	if err != nil {
		return nil, err
	}
	within, err := filepath.Rel(top, folder)
	if err != nil {
		return nil, err
	}
	f := &Found{Project: id, Top: top, Parts: []Part{}, Skipped: []Skipped{}}
	f.free(Managed, o, o.Managed)
	f.free(User, o, o.User...)
	tree, err := openTree(top, o.Names)
	if err != nil {
		f.Skipped = append(f.Skipped, Skipped{Origin: top, Layer: Project, Reason: reason(err)})
		return f, nil
	}
	defer tree.Close()
	folders := down(filepath.ToSlash(within))
	f.projects(tree, folders, o.Names)
	f.rules(tree, folders, placeOf(folder, o.Path, top))
	f.local(tree, root, folders, o.Names)
	return f, nil
}

// down lists the folders from the top to the one given, relative to the top.
func down(within string) []string {
	folders := []string{"."}
	if within == "." {
		return folders
	}
	for i, c := range within {
		if c == '/' {
			folders = append(folders, within[:i])
		}
	}
	return append(folders, within)
}

// free reads the files in the folders of a layer that may include any file.
func (f *Found) free(kind Layer, o Options, folders ...string) {
	l := layer{Found: f, kind: kind}
	for _, folder := range folders {
		if folder == "" {
			continue
		}
		l.enter(anywhere{folder: folder, home: o.Home})
		for _, name := range o.Names {
			l.add(filepath.Join(folder, filepath.FromSlash(name)))
		}
	}
}

func (f *Found) projects(tree inside, folders, names []string) {
	l := layer{Found: f, kind: Project, depth: maxDepth}
	for _, folder := range folders {
		l.enter(tree)
		for _, name := range names {
			l.add(path.Join(folder, name))
		}
	}
}

// rules reads the rules. at is the place of the file that is worked on, relative to
// the top, "" for none.
func (f *Found) rules(tree inside, folders []string, at string) {
	l := layer{Found: f, kind: Rules, depth: maxDepth}
	for _, folder := range folders {
		l.enter(tree)
		name := path.Join(folder, rulesFolder)
		entries, err := tree.List(name)
		if err != nil && !absent(err) {
			l.skip(tree.origin(name), "", reason(err))
		}
		l.rule = &ruleOf{folder: folder, at: at}
		for _, e := range entries {
			if strings.EqualFold(path.Ext(e.Name()), ".md") && !l.add(path.Join(name, e.Name())) {
				break
			}
		}
	}
}

// local reads the files that git does not know. They lie in the main working tree,
// for all that share it, and in the tree at hand, which is nearer.
func (f *Found) local(tree inside, root string, folders, names []string) {
	l := layer{Found: f, kind: Local, depth: maxDepth}
	trees := []inside{tree}
	if root != tree.top {
		if main, err := openTree(root, names); err != nil {
			l.skip(root, "", reason(err))
		} else {
			defer main.Close()
			trees = []inside{main, tree}
		}
	}
	for _, tree := range trees {
		for _, folder := range folders {
			l.enter(tree)
			for _, name := range names {
				l.add(path.Join(folder, localName(name)))
			}
		}
	}
}

// localName is the name of the file beside name that git does not know.
func localName(name string) string {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + ".local" + ext
}

// placeOf is the place of file, relative to the top of the project with /, "" for
// none and for one outside. Links in the folders of an absolute one are followed, as
// those of the top are.
func placeOf(folder, file, top string) string {
	if file == "" {
		return ""
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	} else {
		file = resolved(filepath.Clean(file))
	}
	place, err := filepath.Rel(top, file)
	if err != nil || !filepath.IsLocal(place) {
		return ""
	}
	return filepath.ToSlash(place)
}

// resolved follows the links among the folders of file that exist.
func resolved(file string) string {
	dir, name := filepath.Split(file)
	dir = filepath.Clean(dir)
	if dir == file {
		return file
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, name)
	} else if !errors.Is(err, os.ErrNotExist) {
		return file
	}
	return filepath.Join(resolved(dir), name)
}

// openTree opens a project's folder for files with the extensions of what people
// write, and of names.
func openTree(top string, names []string) (inside, error) {
	extensions := []string{".md", ".markdown", ".mdc", ".txt"}
	for _, name := range names {
		extensions = append(extensions, path.Ext(name), path.Ext(localName(name)))
	}
	folder, err := confine.Open(top, extensions...)
	return inside{Folder: folder, top: top}, err
}
