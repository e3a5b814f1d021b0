package sources

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// goName is what may be declared: Name, or Type.Name.
var goName = regexp.MustCompile(`^[\pL_][\pL\p{Nd}_]*(\.[\pL_][\pL\p{Nd}_]*)?$`)

// goNameOf is an anchor as a Go name: Type.Name for (*Type).Name().
func goNameOf(anchor string) (name string, ok bool) {
	name = strings.NewReplacer("(", "", ")", "", "*", "").Replace(anchor)
	return name, goName.MatchString(name)
}

// findGo finds a declaration of a Go file: one at the top by its name, a method
// as Type.Method, or by its name alone where nothing at the top has it, and a
// field of a struct or a method of an interface as Type.Name. Its section is the
// declaration with its comment. whole is false where the file does not parse, so
// that what was not found may be there all the same.
func findGo(text, name string) (at, end int, whole bool) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return 0, 0, false
	}
	if from, ok := strings.CutPrefix(name, file.Name.Name+"."); ok { // as other packages write it
		if at, end, ok := declaration(files, file, text, from); ok {
			return at, end, true
		}
	}
	at, end, _ = declaration(files, file, text, name)
	return at, end, err == nil
}

// declaration returns where in its text a file declares a name.
func declaration(files *token.FileSet, file *ast.File, text, name string) (at, end int, ok bool) {
	found := declaring(file, name)
	if found == nil {
		return 0, 0, false
	}
	start := found.Pos()
	if doc := docOf(found); doc != nil {
		start = doc.Pos()
	}
	offset := func(p token.Pos) int { return min(files.PositionFor(p, false).Offset, len(text)) }
	return offset(start), offset(found.End()), offset(start) < offset(found.End())
}

// declaring is the node of a file that declares a name, nil if none does.
func declaring(file *ast.File, name string) ast.Node {
	var method ast.Node
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			switch {
			case d.Recv == nil && d.Name.Name == name, d.Recv != nil && receiver(d)+"."+d.Name.Name == name:
				return d
			case d.Recv != nil && d.Name.Name == name && method == nil:
				method = d
			}
		case *ast.GenDecl:
			if n := declared(d, name); n != nil {
				return n
			}
		}
	}
	return method
}

// declared is the node of d that declares a name, nil if none does: d itself where
// it declares nothing else.
func declared(d *ast.GenDecl, name string) ast.Node {
	for _, spec := range d.Specs {
		var found ast.Node
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.Name == name {
				found = s
			} else if member := memberOf(s, name); member != nil {
				return member
			}
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.Name == name {
					found = s
				}
			}
		}
		if found != nil && len(d.Specs) == 1 {
			return d
		} else if found != nil {
			return found
		}
	}
	return nil
}

// memberOf is the field or the interface's method of a type that is named
// Type.Name, nil if there is none.
func memberOf(s *ast.TypeSpec, name string) ast.Node {
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	}
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			if s.Name.Name+"."+n.Name == name {
				return f
			}
		}
	}
	return nil
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

func docOf(n ast.Node) *ast.CommentGroup {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Doc
	case *ast.GenDecl:
		return n.Doc
	case *ast.TypeSpec:
		return n.Doc
	case *ast.ValueSpec:
		return n.Doc
	case *ast.Field:
		return n.Doc
	}
	return nil
}
