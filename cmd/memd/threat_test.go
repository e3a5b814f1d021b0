package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testsOf are the tests and fuzz targets of the tree, by name, with the packages that
// have one of it.
func testsOf(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		pkg, _ := filepath.Rel(root, filepath.Dir(path))
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = append(found[m[1]], filepath.ToSlash(pkg))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Each promise of the threat model names what holds it: tests, which are in the
// package that stands before them, or reading.
func TestThreatModelNamesItsTests(t *testing.T) {
	tests := testsOf(t)
	word := regexp.MustCompile("`([a-z][a-z/]*)`|\\b((?:Test|Fuzz)[A-Z]\\w*)")
	promises := 0
	for _, line := range strings.Split(readFile(t, "docs/threat-model.md"), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 || strings.HasPrefix(cells[0], "promise ") || strings.HasPrefix(cells[0], "---") {
			continue
		}
		promises++
		pkg, named := "", 0
		for _, m := range word.FindAllStringSubmatch(cells[1], -1) {
			if m[1] != "" {
				pkg = m[1]
				continue
			}
			named++
			if !slices.Contains(tests[m[2]], pkg) {
				t.Errorf("%s is no test of package %q; it is in %q", m[2], pkg, tests[m[2]])
			}
		}
		if named == 0 && !strings.Contains(cells[1], "by reading") {
			t.Errorf("nothing holds %q", cells[0])
		}
	}
	if promises < 30 {
		t.Errorf("%d promises", promises)
	}
}
