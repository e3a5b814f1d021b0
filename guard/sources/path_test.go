package sources

import "testing"

func TestSplitPath(t *testing.T) {
	for source, want := range map[string]Path{
		"AGENTS.md":                 {File: "AGENTS.md"},
		"AGENTS.md#commands":        {File: "AGENTS.md", Anchor: "commands", Anchored: true},
		"AGENTS.md#":                {File: "AGENTS.md", Anchored: true},
		"pkg/x.go:12":               {File: "pkg/x.go", From: 12, To: 12},
		"pkg/x.go:12-20":            {File: "pkg/x.go", From: 12, To: 20},
		"pkg/x.go:20-12":            {File: "pkg/x.go", From: 12, To: 20},
		"pkg/x.go#Type.Name:12":     {File: "pkg/x.go", Anchor: "Type.Name", Anchored: true, From: 12, To: 12},
		"pkg/x.go#L12-L20":          {File: "pkg/x.go", Anchor: "L12-L20", Anchored: true},
		"docs/a.md#one#two":         {File: "docs/a.md", Anchor: "one#two", Anchored: true},
		"docs/with%20space.md#a%20": {File: "docs/with%20space.md", Anchor: "a%20", Anchored: true},
		"x.go:0":                    {File: "x.go:0"},
		"x.go:12345678":             {File: "x.go:12345678"},
	} {
		if got := SplitPath(source); got != want {
			t.Errorf("%q: %+v, want %+v", source, got, want)
		}
	}
}

func TestCites(t *testing.T) {
	type cites struct {
		anchor   string
		from, to int
	}
	for source, want := range map[string]cites{
		"x.go#L12":        {"", 12, 12},
		"x.go#L12-L20":    {"", 12, 20},
		"x.go#L12-20":     {"", 12, 20},
		"x.go#L20C3-L12":  {"", 12, 20},
		"x.go#L0":         {"L0", 0, 0},
		"x.go#Line12":     {"Line12", 0, 0},
		"x.go#L12:3":      {"L12", 3, 3},
		"a.md#%E6%A0%87":  {"标", 0, 0},
		"a.md#100%":       {"100%", 0, 0},
		"a.md#a%20b":      {"a b", 0, 0},
		"a.md#commands:7": {"commands", 7, 7},
	} {
		var got cites
		if got.anchor, got.from, got.to = SplitPath(source).cites(); got != want {
			t.Errorf("%q cites %+v, want %+v", source, got, want)
		}
	}
}
