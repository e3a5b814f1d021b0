package groom

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"golang.org/x/mod/modfile"
)

// requirement is what a manifest has in force of a dependency.
type requirement struct {
	version []int
	within  scope
}

// scope says which other versions a requirement takes.
type scope uint8

const (
	exactly  scope = iota // none
	majorOf               // later ones of the same major version, of 0.x of the same minor one: ^1.2
	minorOf               // later ones of the same minor version: ~1.2.3
	orLater               // every later one: >=3
	anything              // nothing is known
)

// allows reports whether a version, of which a row may name the first parts alone,
// is one in force.
func (r requirement) allows(named []int) bool {
	n := min(len(named), len(r.version))
	order := slices.Compare(named[:n], r.version[:n])
	same := func(parts int) bool { return n < parts || slices.Equal(named[:parts], r.version[:parts]) }
	switch r.within {
	case exactly:
		return order == 0
	case majorOf:
		if r.version[0] == 0 {
			return order >= 0 && same(min(2, len(r.version)))
		}
		return order >= 0 && same(1)
	case minorOf:
		return order >= 0 && same(min(2, len(r.version)))
	case orLater:
		return order >= 0
	}
	return true
}

var numbers = regexp.MustCompile(`\d+(?:\.\d+)*`)

// parts are the numbers of a version such as v1.2.3, nil for none.
func parts(version string) []int {
	found := numbers.FindString(version)
	if found == "" {
		return nil
	}
	var all []int
	for part := range strings.SplitSeq(found, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// requirementOf reads a version or a range as package managers write it; bare is
// what a version without an operator stands for.
func requirementOf(text string, bare scope) (requirement, bool) {
	text = strings.TrimSpace(text)
	r := requirement{version: parts(text), within: bare}
	switch {
	case r.version == nil, strings.Contains(text, "||"), strings.ContainsAny(text, "/:"): // alternatives, a place
		return r, false
	case strings.HasPrefix(text, "^"):
		r.within = majorOf
	case strings.HasPrefix(text, "~="): // of its last part any later one: PEP 440
		if r.within = minorOf; len(r.version) <= 2 {
			r.within = majorOf
		}
	case strings.HasPrefix(text, "~"):
		if r.within = minorOf; len(r.version) == 1 {
			r.within = majorOf
		}
	case strings.HasPrefix(text, ">="):
		r.within = orLater
	case strings.HasPrefix(text, "=="), strings.HasPrefix(text, "="):
		r.within = exactly
	case strings.HasPrefix(text, "<"), strings.HasPrefix(text, ">"), strings.HasPrefix(text, "!"):
		return r, false
	}
	return r, true
}

// inForce are the versions that the manifests of a root have in force, by name.
func (p *project) inForce() map[string]requirement {
	if p.versions == nil {
		p.versions = map[string]requirement{}
		p.readGo()
		p.readNode()
		p.readPython()
		p.readRust()
	}
	return p.versions
}

// put notes a dependency. Where several manifests name it, nothing is known of it
// unless they agree.
func (p *project) put(name, text string, bare scope) {
	r, ok := requirementOf(text, bare)
	if !ok {
		return
	}
	name = strings.ToLower(name)
	if other, met := p.versions[name]; met && !slices.Equal(other.version, r.version) {
		r.within = anything
	}
	p.versions[name] = r
}

var majorSuffix = regexp.MustCompile(`^v\d+$`)

func (p *project) readGo() {
	text, ok := p.read("go.mod")
	if !ok {
		return
	}
	f, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil {
		return
	}
	if f.Go != nil {
		p.put("go", f.Go.Version, exactly)
		p.put("golang", f.Go.Version, exactly)
	}
	for _, r := range f.Require {
		at := r.Mod.Path
		p.put(at, r.Mod.Version, exactly)
		name := path.Base(at)
		if majorSuffix.MatchString(name) { // chi of github.com/go-chi/chi/v5
			at = path.Dir(at)
			name = path.Base(at)
			p.put(at, r.Mod.Version, exactly)
		}
		p.put(name, r.Mod.Version, exactly)
	}
}

func (p *project) readNode() {
	text, ok := p.read("package.json")
	if !ok {
		return
	}
	var f struct {
		Dependencies, DevDependencies, PeerDependencies, OptionalDependencies map[string]any
		Engines                                                               map[string]any
	}
	if json.Unmarshal(text, &f) != nil {
		return
	}
	for _, set := range []map[string]any{f.Dependencies, f.DevDependencies, f.PeerDependencies, f.OptionalDependencies, f.Engines} {
		for name, version := range set {
			if text, ok := version.(string); ok {
				p.put(name, text, exactly)
			}
		}
	}
}

// pep508 is a dependency as PEP 508 writes it: a name, extras, and the first of its
// conditions.
var pep508 = regexp.MustCompile(`^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?\s*((?:===?|~=|>=|<=|!=|<|>)\s*[0-9][^,;)\s]*)`)

func (p *project) readPython() {
	text, ok := p.read("pyproject.toml")
	if !ok {
		return
	}
	var f struct {
		Project struct {
			Dependencies         []string
			OptionalDependencies map[string][]string `toml:"optional-dependencies"`
			RequiresPython       string              `toml:"requires-python"`
		}
		Tool struct {
			Poetry struct {
				Dependencies map[string]any
				Group        map[string]struct{ Dependencies map[string]any }
			}
		}
	}
	if toml.Unmarshal(text, &f) != nil {
		return
	}
	lists := [][]string{f.Project.Dependencies}
	for _, list := range f.Project.OptionalDependencies {
		lists = append(lists, list)
	}
	for _, line := range slices.Concat(lists...) {
		if at := pep508.FindStringSubmatch(line); at != nil {
			p.put(at[1], at[2], exactly)
		}
	}
	p.put("python", f.Project.RequiresPython, exactly)
	p.putTable(f.Tool.Poetry.Dependencies, exactly)
	for _, group := range f.Tool.Poetry.Group {
		p.putTable(group.Dependencies, exactly)
	}
}

// putTable notes dependencies of which each is a version or a table with one.
func (p *project) putTable(set map[string]any, bare scope) {
	for name, value := range set {
		if table, ok := value.(map[string]any); ok {
			value = table["version"]
		}
		if text, ok := value.(string); ok {
			p.put(name, text, bare)
		}
	}
}

func (p *project) readRust() {
	text, ok := p.read("Cargo.toml")
	if !ok {
		return
	}
	type sets struct {
		Dependencies      map[string]any
		DevDependencies   map[string]any `toml:"dev-dependencies"`
		BuildDependencies map[string]any `toml:"build-dependencies"`
	}
	var f struct {
		Package struct {
			RustVersion any `toml:"rust-version"`
		}
		Workspace sets
		sets
	}
	if toml.Unmarshal(text, &f) != nil {
		return
	}
	if version, ok := f.Package.RustVersion.(string); ok {
		p.put("rust", version, orLater)
	}
	for _, s := range []sets{f.sets, f.Workspace} {
		for _, set := range []map[string]any{s.Dependencies, s.DevDependencies, s.BuildDependencies} {
			p.putTable(set, majorOf) // a bare version is ^ there
		}
	}
}

// mention is a name with a version: chi v5, react@17.0.2, go 1.26, django==4.2.
var mention = regexp.MustCompile(`(?i)(@?[a-z0-9][a-z0-9_.-]*(?:/[a-z0-9_.-]+)*?)(@\^?~?v?|\s*={2,3}\s*v?|/v|\s+(?:version\s+|版本\s*)?v?|\s*版本\s*)(\d+(?:\.\d+)*)`)

// Words before and after a mention that make it one of another time, or of no
// version at all.
var (
	formerly = regexp.MustCompile(`(?i)(?:\b(?:from|since|before|until|till|dropped|removed|than|instead of|not|no|never|unlike|was|were|replaces?|replaced|without|avoid)\s+|(?:\b(?:not|never|no longer)|n't)\s+[a-z]+\s+|[<>≥≤]=?\s*|从|不再使用|不再用|不要使用|不要用|不用|禁止使用|避免使用|早于|高于|低于)$`)
	orNewer  = regexp.MustCompile(`(?i)^(?:\.x)?\s*(?:\+|or (?:later|newer|above|higher)|and (?:later|newer|above|up)|以上|及以上|或更高)`)
	telling  = regexp.MustCompile(`(?i)^\s*(?:added|adds|introduced|introduces|brought|brings|deprecated|deprecates|dropped|drops|removed|removes|came with|引入|新增|移除|废弃)`)
	amount   = regexp.MustCompile(`(?i)^\s*(?:%|ms|s|sec|seconds?|minutes?|min|hours?|h|days?|weeks?|months?|years?|times?|items?|rows?|files?|lines?|steps?|tests?|attempts?|workers?|replicas?|bytes?|k?i?b|m?i?b|g?i?b|次|天|个|条|秒|分|小时)(?:[^a-z]|$)`)
)

// nearby is how much of a text before a mention is looked at, in bytes.
const nearby = 60

// outdated reports whether a text names a dependency in a version that is not in
// force.
func outdated(text string, inForce map[string]requirement) bool {
	for from := 0; from < len(text); {
		at := mention.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return false
		}
		for i := range at {
			at[i] += from
		}
		name, between, version := text[at[2]:at[3]], text[at[4]:at[5]], text[at[6]:at[7]]
		before, after := text[max(0, at[0]-nearby):at[0]], text[at[1]:]
		r, known := inForce[strings.ToLower(name)]
		if !known { // Next.js is next
			r, known = inForce[strings.TrimSuffix(strings.ToLower(name), ".js")]
		}
		if !known {
			from = at[3] // the next word may be the name
			continue
		}
		from = at[1]
		plain := strings.TrimSpace(between) == "" && !strings.Contains(version, ".")
		switch named := parts(version); {
		case formerly.MatchString(before), orNewer.MatchString(after), telling.MatchString(after):
		case plain && (amount.MatchString(after) || strings.EqualFold(name, "go")): // go 3 times
		case named != nil && !r.allows(named):
			return true
		}
	}
	return false
}
