// Package archtest holds the rules of the house that a compiler does not: which
// room may lean on which, where the database, the environment and the clock
// may be touched, and how large things may grow. Its test runs them over the
// module as it stands.
//
// A new room is declared in [layers], or the test fails.
package archtest

import (
	"cmp"
	"fmt"
	"go/token"
	"io/fs"
	"slices"
	"strings"
)

// module is the path of the module whose sources are checked.
const module = "memd"

// layers lists the rooms from the ground up; the root package is "". A room
// imports from lower layers and from itself, never upward or sideways.
var layers = [...][]string{
	{""},
	{"configs", "migrations", "embedding", "guard"},
	{"store"},
	{"tiers"},
	{"recall", "groom", "exchange"},
	{"api"},
	{"cmd/memd"},
}

// Rooms beside the layers, with rules of their own.
const (
	leaves  = "internal"         // imported by anyone; imports the root and its own kind
	memtest = "internal/memtest" // builds real stores for tests, and for them alone
	bench   = "bench"            // imports anything; imported by nobody
)

// Bounds on size.
const (
	maxLines   = 500 // of a file, unless generated
	maxMethods = 7   // of an interface
)

// vagueNames say nothing of what a package holds, so that it holds everything.
var vagueNames = [...]string{"util", "utils", "common", "helper", "helpers", "model", "models", "type", "types"}

// Violation is a broken rule.
type Violation struct {
	Pos  token.Position // the line may be 0, for the file as a whole
	Text string
}

// String is the violation in the form of a compiler's error.
func (v Violation) String() string {
	if v.Pos.Line == 0 {
		return v.Pos.Filename + ": " + v.Text
	}
	return fmt.Sprintf("%s:%d: %s", v.Pos.Filename, v.Pos.Line, v.Text)
}

// Check reads every Go file of the module at the top of fsys, whatever its
// build tags, and returns what breaks a rule in the order of the files. A file
// that does not parse is an error.
func Check(fsys fs.FS) ([]Violation, error) {
	sources, err := read(fsys)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, s := range sources {
		for _, rule := range []func(source) []Violation{
			checkRoom, checkName, checkImports, checkUses, checkLength,
		} {
			found = append(found, rule(s)...)
		}
	}
	found = append(found, checkInterfaces(sources)...)
	slices.SortStableFunc(found, func(a, b Violation) int {
		return cmp.Or(strings.Compare(a.Pos.Filename, b.Pos.Filename), a.Pos.Line-b.Pos.Line)
	})
	return found, nil
}

// roomOf returns the room of a package by its path within the module: its
// first element, or two below cmd, whose programs are rooms of their own.
func roomOf(pkg string) string {
	room, rest, nested := strings.Cut(pkg, "/")
	if room == "cmd" && nested {
		program, _, _ := strings.Cut(rest, "/")
		return room + "/" + program
	}
	return room
}

// layerOf returns the height of a room, -1 for one beside the layers.
func layerOf(room string) int {
	return slices.IndexFunc(layers[:], func(rooms []string) bool { return slices.Contains(rooms, room) })
}

// inside reports whether pkg is parent or lies below it.
func inside(pkg, parent string) bool {
	return pkg == parent || strings.HasPrefix(pkg, parent+"/")
}
