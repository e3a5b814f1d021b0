package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// source is one Go file.
type source struct {
	path  string // within the module, with slashes
	pkg   string // the path of its package within the module, "" for the root
	test  bool
	lines int
	fset  *token.FileSet
	tree  *ast.File
}

// read parses the Go files below the top of fsys, leaving out what the go
// command leaves out: hidden folders, testdata, and other modules.
func read(fsys fs.FS) ([]source, error) {
	var sources []source
	fset := token.NewFileSet()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		ignored := name != "." && strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
		if entry.IsDir() {
			if ignored || base == "testdata" || base == "vendor" || name != "." && hasModule(fsys, name) {
				return fs.SkipDir
			}
			return nil
		}
		if ignored || path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		tree, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources = append(sources, source{
			path:  name,
			pkg:   strings.TrimPrefix(path.Dir(name), "."),
			test:  strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(text, []byte("\n")),
			fset:  fset,
			tree:  tree,
		})
		return nil
	})
	return sources, err
}

func hasModule(fsys fs.FS, dir string) bool {
	_, err := fs.Stat(fsys, path.Join(dir, "go.mod"))
	return err == nil
}

// at makes the violation of a rule by a node of s.
func (s source) at(node ast.Node, text string) Violation {
	return Violation{Pos: s.fset.Position(node.Pos()), Text: text}
}

// whole makes the violation of a rule by s as a whole.
func (s source) whole(text string) Violation {
	return Violation{Pos: token.Position{Filename: s.path}, Text: text}
}

// importPath returns what an import names.
func importPath(spec *ast.ImportSpec) string {
	target, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
	return target
}

// localNames maps the name by which each import of s is used to its path. The
// name of a package is taken to be the last element of its path, which holds
// for the standard library.
func (s source) localNames() map[string]string {
	names := map[string]string{}
	for _, spec := range s.tree.Imports {
		target := importPath(spec)
		name := path.Base(target)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = target
	}
	return names
}
