package groom

import (
	"fmt"
	"regexp"
	"strings"

	"memd"
	"memd/tiers"
)

// preferencesCurrent decides 4.1.
func preferencesCurrent(e *evidence) outcome {
	said := e.ofKind(memd.Preference, memd.User, memd.Feedback)
	within := e.opts.Store.Budgets().PreferenceFreshFor
	bad := failing(said, func(h head) bool { return h.Stale || e.now.Sub(h.VerifiedAt.Time) > within })
	return e.judge(len(said), bad, "preferences, user and feedback rows were verified within "+inDays(within)+" and are not stale",
		"ask whoever said it, then memd verify ID or memd forget ID")
}

// factsMatch decides 4.2.
func factsMatch(e *evidence) outcome {
	looked, unchecked := 0, 0
	var bad []string
	for _, h := range e.ofKind(memd.Fact) {
		p := e.project(h.Namespace)
		if p == nil {
			unchecked++
			continue
		}
		claims := append(p.paths(h.Summary), p.branches(h.Summary)...)
		if len(claims) == 0 { // it names none
			continue
		}
		looked++
		for _, holds := range claims {
			if !holds {
				bad = append(bad, h.ID)
				break
			}
		}
	}
	return e.judge(looked, bad, fmt.Sprintf(
		"files and folders that a fact's summary names stand in the root of its namespace, and a default branch that it names is git's; %d facts name some; %d stand in a namespace without a root that can be read", looked, unchecked),
		"memd remember-long-term SUMMARY --key KEY --source SOURCE as it is now, or memd forget ID")
}

var (
	urls      = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://\S+|\S+@\S+\.\S+`)
	sentences = regexp.MustCompile(`[.!?;](?:\s|$)|[。！？；\n]`)
	pathLike  = regexp.MustCompile("[A-Za-z0-9_.@+~-]*(?:/[A-Za-z0-9_.@+~-]+)*/?")
	ticked    = regexp.MustCompile("^`[^`\\s]+`")

	// absent are words of a statement that something is not there.
	absent = regexp.MustCompile(`(?i)\b(?:no|not|never|without|removed|deleted|gone|moved|renamed|former|formerly|was|were|used to|instead of|isn't|aren't|doesn't)\b|没有|不再|已删除|已移除|删除|移除|废弃|曾|改名|不存在`)
	// notPaths are first parts of what is written like a path.
	notPaths = regexp.MustCompile(`(?i)^(?:application|text|image|audio|video|multipart|font|origin|upstream|refs|heads|feature|bugfix|hotfix|release|n|and|he|she|i|tcp|either)/`)
)

// paths says of each file and folder that a text names whether it stands in the
// root. Sentences that say that something is not there are left out.
func (p *project) paths(text string) (stand []bool) {
	text = urls.ReplaceAllString(text, " ")
	for _, sentence := range sentences.Split(text, -1) {
		if absent.MatchString(sentence) {
			continue
		}
		for _, at := range pathLike.FindAllStringIndex(sentence, -1) {
			if at[0] == at[1] || beside(sentence, at[0]-1) || beside(sentence, at[1]) {
				continue
			}
			quoted := at[0] > 0 && sentence[at[0]-1] == '`' && ticked.MatchString(sentence[at[0]-1:])
			if holds, told := p.claim(sentence[at[0]:at[1]], quoted); told {
				stand = append(stand, holds)
			}
		}
	}
	return stand
}

// beside reports whether the character at i says that what stands beside it is a
// pattern or a part of something longer.
func beside(s string, i int) bool {
	return i >= 0 && i < len(s) && strings.IndexByte(`*{}$<>\%=/`, s[i]) >= 0
}

// claim reports whether a name stands in the root; not told where it is no path,
// or one that cannot be looked for.
func (p *project) claim(name string, quoted bool) (holds, told bool) {
	name = strings.TrimRight(name, ".")
	name = strings.TrimPrefix(name, "./")
	if !strings.Contains(name, "/") {
		switch lower := strings.ToLower(name); {
		case lower == "a.m", lower == "p.m", strings.HasSuffix(lower, ".log"), strings.HasPrefix(lower, "."), !tiers.NamesFile(name):
			return false, false
		}
		return p.hasNamed(name)
	}
	first, _, _ := strings.Cut(name, "/")
	switch {
	case first == "", first == "~", first == "..", first[0] == '@', strings.Contains(name, "/../"), strings.Contains(name, "//"), notPaths.MatchString(name):
		return false, false
	case p.has(first): // whatever it is called
	case strings.Contains(first, ".") && !strings.HasPrefix(first, "."): // github.com/x/y
		return false, false
	case strings.HasSuffix(name, "/"), quoted, tiers.KnownSuffix(name):
	default:
		return false, false
	}
	return p.has(name), true
}

// defaultBranch is a statement of which branch is the default one.
var defaultBranch = regexp.MustCompile("(?i)default (?:git )?branch(?: of [^\\s,.;]+)?(?: is|:| =| is called| is named)\\s*[`\"']?([a-z0-9._/-]+)|[`\"']?([a-z0-9._/-]+)[`\"']? is the default (?:git )?branch|默认分支\\s*(?:是|为|:|：|叫)\\s*[`\"']?([a-z0-9._/-]+)|([a-z0-9._/-]+)[`\"']?\\s*(?:是|为)默认分支")

// branches says of each default branch that a text names whether it is git's.
func (p *project) branches(text string) (hold []bool) {
	for _, at := range defaultBranch.FindAllStringSubmatch(text, -1) {
		name := strings.Trim(at[1]+at[2]+at[3]+at[4], ".")
		if name == "" || name == "not" {
			continue
		}
		if holds, told := p.isDefault(name); told {
			hold = append(hold, holds)
		}
	}
	return hold
}

// isDefault reports whether a branch is the default one of the root's repository:
// that of origin, and where that is not known at least one of its branches. A .git
// that is a file leads elsewhere and is not followed.
func (p *project) isDefault(name string) (is, told bool) {
	if info, err := p.root.Lstat(".git"); err != nil || !info.IsDir() {
		return false, false
	}
	if text, ok := p.read(".git/refs/remotes/origin/HEAD"); ok {
		if branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/remotes/origin/"); ok {
			return branch == name, true
		}
	}
	if p.has(".git/refs/heads/" + name) {
		return true, true
	}
	packed, _ := p.read(".git/packed-refs")
	for line := range strings.Lines(string(packed)) {
		if strings.HasSuffix(strings.TrimSpace(line), " refs/heads/"+name) {
			return true, true
		}
	}
	return false, true
}
