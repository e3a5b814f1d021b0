package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The house as it stands keeps its rules.
func TestHouse(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	fsys := os.DirFS(root)
	if !hasModule(fsys, ".") {
		t.Fatalf("%s is not the root of the module", root)
	}
	found, err := Check(fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// check runs the rules over made-up files given as path and text.
func check(t *testing.T, files map[string]string) []string {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte("module memd\n")}}
	for path, text := range files {
		fsys[path] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := Check(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range found {
		lines = append(lines, v.String())
	}
	return lines
}

// importing is a Go file of the package that imports paths.
func importing(pkg string, paths ...string) string {
	var b strings.Builder
	b.WriteString("package " + pkg + "\n")
	for _, p := range paths {
		b.WriteString("import _ \"" + p + "\"\n")
	}
	return b.String()
}

func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		file   string
		target string
		why    string // "" for allowed
	}{
		// Down, by one layer or by many.
		{"cmd/memd/main.go", "memd/api", ""},
		{"cmd/memd/main.go", "memd/configs", ""},
		{"cmd/memd/sub/x.go", "memd/api/mcp", ""},
		{"api/x.go", "memd/recall", ""},
		{"api/mcp/x.go", "memd/tiers", ""},
		{"groom/x.go", "memd/tiers", ""},
		{"tiers/x.go", "memd/store", ""},
		{"store/x.go", "memd/migrations", ""},
		{"guard/x.go", "memd", ""},
		{"configs/x.go", "github.com/goccy/go-yaml", ""},

		// Within a room.
		{"api/x.go", "memd/api/client", ""},
		{"store/terms/x.go", "memd/store", ""},
		{"x_test.go", "memd", ""},

		// Sideways and up.
		{"recall/x.go", "memd/groom", "sideways"},
		{"groom/x_test.go", "memd/exchange", "sideways"},
		{"guard/x.go", "memd/configs", "sideways"},
		{"tiers/x.go", "memd/recall", "upwards"},
		{"store/x.go", "memd/tiers", "upwards"},
		{"store/terms/x_test.go", "memd/tiers", "upwards"},
		{"configs/x.go", "memd/store/terms", "upwards"},
		{"api/x.go", "memd/cmd/memd", "upwards"},
		{"x_test.go", "memd/tiers", "upwards"},

		// The root.
		{"x.go", "net/http", ""},
		{"x.go", "memd/configs", "the root package uses the standard library alone"},
		{"x.go", "memd/internal/atomicfile", "the root package uses the standard library alone"},
		{"x.go", "golang.org/x/text/cases", "the root package uses the standard library alone"},
		{"x.go", "C", "the root package uses the standard library alone"},
		{"x_test.go", "github.com/google/go-cmp/cmp", ""},
		{"x.go", "memdx/y", ""}, // not of this module, though its name begins alike

		// Leaves.
		{"store/x.go", "memd/internal/atomicfile", ""},
		{"x_test.go", "memd/internal/archtest", ""},
		{"internal/dirlock/x.go", "memd", ""},
		{"internal/dirlock/x.go", "memd/internal/atomicfile", ""},
		{"internal/dirlock/x.go", "memd/configs", "a leaf imports the root and other leaves alone"},
		{"internal/dirlock/x_test.go", "memd/store", "a leaf imports the root and other leaves alone"},

		// Real stores for tests.
		{"internal/memtest/x.go", "memd/store", ""},
		{"internal/memtest/x.go", "memd/configs", ""},
		{"internal/memtest/x.go", "memd/internal/dirlock", ""},
		{"internal/memtest/x.go", "memd/tiers", "memtest builds stores and knows nothing above them"},
		{"internal/memtest/sub/x.go", "memd/internal/memtest", ""},
		{"tiers/x_test.go", "memd/internal/memtest", ""},
		{"tiers/x.go", "memd/internal/memtest", "memtest is for tests alone"},
		{"internal/dirlock/x.go", "memd/internal/memtest", "memtest is for tests alone"},

		// Benchmarks.
		{"bench/load/x.go", "memd/cmd/memd", ""},
		{"bench/load/x.go", "memd/internal/memtest", ""},
		{"bench/load/x.go", "database/sql", ""},
		{"cmd/memd/x.go", "memd/bench", "nothing leans on the benchmarks"},

		// The database.
		{"store/x.go", "database/sql", ""},
		{"store/terms/x_test.go", "database/sql", ""},
		{"tiers/x_test.go", "database/sql", "the database is the business of store"},
		{"internal/memtest/x.go", "database/sql", "the database is the business of store"},
		{"x.go", "database/sql", "the database is the business of store"},
		{"storefront/x.go", "database/sql", "the database is the business of store"},
	} {
		var want []string
		if c.why != "" {
			want = []string{c.file + ":2: imports " + c.target + ": " + c.why}
		}
		got := check(t, map[string]string{c.file: importing("p", c.target)})
		got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, "is no room") })
		if !slices.Equal(got, want) {
			t.Errorf("%s importing %s: %q, want %q", c.file, c.target, got, want)
		}
	}
}

func TestRooms(t *testing.T) {
	got := check(t, map[string]string{
		"x.go":               "package memd",
		"tiers/x.go":         "package tiers",
		"internal/new/x.go":  "package new",
		"engine/x.go":        "package engine",
		"cmd/x.go":           "package main",
		"cmd/memctl/x.go":    "package main",
		"pkg/deep/x_test.go": "package deep",
		// None of these belongs to the module.
		"testdata/x.go":        "package util; import _ \"database/sql\"",
		"store/testdata/x.go":  "not Go",
		"tools/go.mod":         "module tools",
		"tools/x.go":           "package util",
		".cache/x.go":          "package util",
		"_old/x.go":            "package util",
		"store/_x.go":          "package util",
		"vendor/example/x.go":  "package util",
		"web/assets/script.js": "package util",
	})
	want := []string{
		`cmd/memctl/x.go: "cmd/memctl" is no room of the house; declare it in internal/archtest`,
		`cmd/x.go: "cmd" is no room of the house; declare it in internal/archtest`,
		`engine/x.go: "engine" is no room of the house; declare it in internal/archtest`,
		`pkg/deep/x_test.go: "pkg" is no room of the house; declare it in internal/archtest`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("Check = %q, want %q", got, want)
	}
}

func TestPackageNames(t *testing.T) {
	got := check(t, map[string]string{
		"store/util/x.go":        "package util",
		"store/x_test.go":        "package helpers_test",
		"api/models/x.go":        "// A comment.\n\npackage models",
		"api/typesetting/x.go":   "package typesetting",
		"internal/commons/x.go":  "package commons",
		"internal/common/hid.go": "package named",
	})
	want := []string{
		`api/models/x.go:3: the package name "models" says nothing of what it holds`,
		`store/util/x.go:1: the package name "util" says nothing of what it holds`,
		`store/x_test.go:1: the package name "helpers" says nothing of what it holds`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("Check = %q, want %q", got, want)
	}
}

func TestClockAndEnvironment(t *testing.T) {
	const clock = ": take the clock as a value, with time.Now as its default"
	const environment = ": the environment is the business of configs"
	for _, c := range []struct{ name, file, text, want string }{
		{"a default", "store/x.go", "import \"time\"\nvar now = time.Now", ""},
		{"a call", "store/x.go", "import \"time\"\nvar now = time.Now()", ":3: time.Now()" + clock},
		{"a call in a chain", "api/x.go", "import \"time\"\nvar now = time.Now().UTC()", ":3: time.Now()" + clock},
		{"another name", "x.go", "import clock \"time\"\nvar now = clock.Now()", ":3: time.Now()" + clock},
		{"since", "guard/x.go", "import \"time\"\nfunc f(t time.Time) any { return time.Since(t) }", ":3: time.Since()" + clock},
		{"until", "internal/x/x.go", "import \"time\"\nfunc f(t time.Time) any { return time.Until(t) }", ":3: time.Until()" + clock},
		{"without a name", "x.go", "import . \"time\"\nvar now = Now()", ": imports time without a name"},
		{"a method", "tiers/x.go", "type c struct{}\nfunc (c) Now() int\nvar now = c{}.Now()", ""},
		{"another time", "tiers/x.go", "import \"x/time\"\nvar time2 = time.Now()", ""},
		{"a test", "tiers/x_test.go", "import \"time\"\nvar now = time.Now()", ""},
		{"the benchmarks", "bench/x.go", "import \"time\"\nvar now = time.Now()", ""},
		{"getenv", "store/x.go", "import \"os\"\nvar home = os.Getenv(\"HOME\")", ":3: os.Getenv" + environment},
		{"getenv handed over", "store/x.go", "import \"os\"\nvar get = os.Getenv", ":3: os.Getenv" + environment},
		{"lookup", "bench/x.go", "import \"os\"\nvar _, _ = os.LookupEnv(\"HOME\")", ":3: os.LookupEnv" + environment},
		{"environ", "x.go", "import \"os\"\nvar all = os.Environ()", ":3: os.Environ" + environment},
		{"in configs", "configs/x.go", "import \"os\"\nvar all = os.Environ()", ""},
		{"in a test", "store/x_test.go", "import \"os\"\nvar all = os.Environ()", ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.file + c.want}
		}
		if got := check(t, map[string]string{c.file: "package p\n" + c.text}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
	main := map[string]string{"cmd/memd/main.go": "package main\nimport (\"os\"; \"time\")\nvar now = time.Now()\nvar env = os.Environ()"}
	if got, want := check(t, main), []string{"cmd/memd/main.go:4: os.Environ" + environment}; !slices.Equal(got, want) {
		t.Errorf("package main: %q, want %q", got, want)
	}
}

func TestSizes(t *testing.T) {
	long := "package store\n" + strings.Repeat("\n", 499)
	got := check(t, map[string]string{
		"store/fits.go":      long,
		"store/long.go":      long + "\n",
		"store/long_test.go": long + "\n",
		"store/generated.go": "// Code generated by x. DO NOT EDIT.\n\n" + long,
		"tiers/seven.go":     "package tiers\ntype seven interface { a(); b(); c(); d(); e(); f(); g() }\ntype set interface { ~int | ~string }",
		"tiers/eight.go":     "package tiers\n\ntype eight interface { seven; h() }",
		"tiers/nine.go":      "package tiers\nfunc f() { type nine interface { a(); b(); c(); d(); e(); f(); g(); h(); i() } }",
		"tiers/loop.go":      "package tiers\ntype loop interface { loop }",
		"recall/other.go":    "package recall\ntype other interface { seven; h() }",
	})
	want := []string{
		"store/long.go: 501 lines, more than 500",
		"store/long_test.go: 501 lines, more than 500",
		"tiers/eight.go:3: interface eight has 8 methods, more than 7",
		"tiers/nine.go:2: interface nine has 9 methods, more than 7",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Check = %q, want %q", got, want)
	}
}

func TestUnreadableSource(t *testing.T) {
	_, err := Check(fstest.MapFS{"store/x.go": {Data: []byte("package store\nfunc {")}})
	if err == nil || !strings.Contains(err.Error(), "store/x.go:2:") {
		t.Errorf("error = %v, want one that names store/x.go:2", err)
	}
}
