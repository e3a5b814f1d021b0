package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// checkRoom wants every package in a declared room.
func checkRoom(s source) []Violation {
	if room := roomOf(s.pkg); layerOf(room) < 0 && room != leaves && room != bench {
		return []Violation{s.whole(fmt.Sprintf("%q is no room of the house; declare it in internal/archtest", room))}
	}
	return nil
}

// checkName refuses packages named after nothing.
func checkName(s source) []Violation {
	name := strings.TrimSuffix(s.tree.Name.Name, "_test")
	if slices.Contains(vagueNames[:], name) {
		return []Violation{s.at(s.tree.Name, fmt.Sprintf("the package name %q says nothing of what it holds", name))}
	}
	return nil
}

// checkImports holds the direction of imports.
func checkImports(s source) []Violation {
	var found []Violation
	for _, spec := range s.tree.Imports {
		target := importPath(spec)
		if why := refusal(s, target); why != "" {
			found = append(found, s.at(spec, fmt.Sprintf("imports %s: %s", target, why)))
		}
	}
	return found
}

// refusal says why s may not import target, "" if it may.
func refusal(s source, target string) string {
	if target == "database/sql" && !inside(s.pkg, "store") && !inside(s.pkg, bench) {
		return "the database is the business of store"
	}
	if !inside(target, module) {
		if first, _, _ := strings.Cut(target, "/"); s.pkg == "" && !s.test && (strings.Contains(first, ".") || first == "C") {
			return "the root package uses the standard library alone"
		}
		return ""
	}
	return inwardRefusal(s, strings.TrimPrefix(strings.TrimPrefix(target, module), "/"))
}

// inwardRefusal is refusal for a package of this module.
func inwardRefusal(s source, target string) string {
	from, to := roomOf(s.pkg), roomOf(target)
	switch {
	case from == bench:
		return ""
	case to == bench:
		return "nothing leans on the benchmarks"
	case inside(target, memtest) && !s.test && !inside(s.pkg, memtest):
		return "memtest is for tests alone"
	case inside(s.pkg, memtest) && to != leaves && layerOf(to) > layerOf("store"):
		return "memtest builds stores and knows nothing above them"
	case inside(s.pkg, memtest):
		return ""
	case from == to: // includes the root's own external tests
		return ""
	case s.pkg == "" && !s.test:
		return "the root package uses the standard library alone"
	case to == leaves:
		return ""
	case from == leaves && to != "":
		return "a leaf imports the root and other leaves alone"
	case from == leaves:
		return ""
	case layerOf(from) < 0 || layerOf(to) < 0:
		return "" // the rule on rooms has spoken
	case layerOf(to) == layerOf(from):
		return "sideways"
	case layerOf(to) > layerOf(from):
		return "upwards"
	}
	return ""
}

// checkUses keeps the environment in configs and the wall clock behind the
// seam that tests put their own into: time.Now is a default to hand over, not
// a function to call. Dot imports of either would hide what this rule sees.
func checkUses(s source) []Violation {
	if s.test {
		return nil
	}
	var found []Violation
	names := s.localNames()
	if target := names["."]; target == "os" || target == "time" {
		found = append(found, s.whole("imports "+target+" without a name"))
	}
	uses := func(node ast.Node, pkg string, functions ...string) (string, bool) {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return "", false
		}
		left, ok := selector.X.(*ast.Ident)
		if !ok || names[left.Name] != pkg || !slices.Contains(functions, selector.Sel.Name) {
			return "", false
		}
		return pkg + "." + selector.Sel.Name, true
	}
	ownClock := s.tree.Name.Name == "main" || inside(s.pkg, bench)
	ast.Inspect(s.tree, func(node ast.Node) bool {
		if use, ok := uses(node, "os", "Getenv", "LookupEnv", "Environ"); ok && !inside(s.pkg, "configs") {
			found = append(found, s.at(node, use+": the environment is the business of configs"))
		}
		if call, ok := node.(*ast.CallExpr); ok && !ownClock {
			if use, ok := uses(call.Fun, "time", "Now", "Since", "Until"); ok {
				found = append(found, s.at(call, use+"(): take the clock as a value, with time.Now as its default"))
			}
		}
		return true
	})
	return found
}

// checkLength bounds a file.
func checkLength(s source) []Violation {
	if s.lines > maxLines && !ast.IsGenerated(s.tree) {
		return []Violation{s.whole(fmt.Sprintf("%d lines, more than %d", s.lines, maxLines))}
	}
	return nil
}

// checkInterfaces bounds interfaces, counting the methods of those they embed
// from their own package.
func checkInterfaces(sources []source) []Violation {
	type name struct{ pkg, clause, ident string } // the clause sets external tests apart
	declared := map[name]*ast.InterfaceType{}
	eachType(sources, func(s source, spec *ast.TypeSpec) {
		if t, ok := spec.Type.(*ast.InterfaceType); ok {
			declared[name{s.pkg, s.tree.Name.Name, spec.Name.Name}] = t
		}
	})
	var count func(s source, t *ast.InterfaceType, depth int) int
	count = func(s source, t *ast.InterfaceType, depth int) int {
		n := 0
		for _, member := range t.Methods.List {
			if n += len(member.Names); len(member.Names) > 0 {
				continue
			}
			// The depth stops at an interface that embeds itself, which only
			// the compiler refuses.
			ident, ok := member.Type.(*ast.Ident)
			if ok && depth < 10 {
				if embedded := declared[name{s.pkg, s.tree.Name.Name, ident.Name}]; embedded != nil {
					n += count(s, embedded, depth+1)
				}
			}
		}
		return n
	}
	var found []Violation
	eachType(sources, func(s source, spec *ast.TypeSpec) {
		t, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			return
		}
		if n := count(s, t, 0); n > maxMethods {
			found = append(found, s.at(spec, fmt.Sprintf("interface %s has %d methods, more than %d", spec.Name.Name, n, maxMethods)))
		}
	})
	return found
}

// eachType visits every type declaration.
func eachType(sources []source, visit func(source, *ast.TypeSpec)) {
	for _, s := range sources {
		ast.Inspect(s.tree, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				visit(s, spec)
			}
			return true
		})
	}
}
