package derivable

import (
	"regexp"
	"strings"
)

var (
	hunk   = regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)
	commit = regexp.MustCompile(`^[*|\\/ ]*commit [0-9a-f]{7,40}( \(.+\))?$`)
	author = regexp.MustCompile(`^[*|\\/ ]*(Author|AuthorDate|Commit|Date|Merge): +\S`)
	blamed = regexp.MustCompile(`^\^?[0-9a-f]{7,40} .*\(.+ \d{4}-\d{2}-\d{2} .*\d+\) `)
)

// isDiff reports whether a text holds a unified diff: the header of a file, or of
// a hunk with a changed line below it.
func isDiff(all []string) bool {
	for i, line := range all {
		switch {
		case strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "diff -u"):
			return true
		case hunk.MatchString(line) && changedBelow(all[i+1:]):
			return true
		case strings.HasPrefix(line, "--- ") && i+1 < len(all) && strings.HasPrefix(all[i+1], "+++ "):
			return true
		}
	}
	return false
}

// changedBelow reports whether the lines of a hunk hold one that was changed.
func changedBelow(rest []string) bool {
	for _, line := range rest {
		if line == "" {
			continue
		}
		switch line[0] {
		case '+', '-':
			return true
		case ' ', '\\', '\t':
		default:
			return false
		}
	}
	return false
}

// isGitOutput reports whether a text holds what git log, git status or git blame
// print.
func isGitOutput(all []string) bool {
	short, blames, status := 0, 0, 0
	for i, line := range all {
		if len(line) > maxMarked {
			short = 0
			continue
		}
		if strings.Contains(line, "commit ") && commit.MatchString(line) && i+1 < len(all) && author.MatchString(all[i+1]) {
			return true
		}
		switch named := nameOf(line); {
		case named == "":
			if strings.Trim(line, graph) != "" || line == "" {
				short = 0
			}
		default:
			short++
			if blamed.MatchString(line) {
				blames++
			}
		}
		if short == 3 || blames == 3 {
			return true
		}
		if line == "" || strings.IndexByte("OYCUn", line[0]) < 0 {
			continue
		}
		for _, said := range [...]string{
			"On branch ", "Your branch is ", "Changes not staged for commit:", "Changes to be committed:", "Untracked files:",
			"no changes added to commit", "nothing to commit, working tree clean",
		} {
			if strings.HasPrefix(line, said) {
				status++
			}
		}
		if status == 2 {
			return true
		}
	}
	return false
}

// graph is what git log draws beside commits.
const graph = `*|\/ `

// nameOf is the name of a commit that a line begins with, behind the graph of git
// log or the mark of git blame, "" where there is none.
func nameOf(line string) string {
	line = strings.TrimPrefix(strings.TrimLeft(line, graph), "^")
	n := strings.IndexFunc(line, func(r rune) bool { return !('0' <= r && r <= '9' || 'a' <= r && r <= 'f') })
	if n < 7 || n > 12 && n != 40 || line[n] != ' ' || !strings.ContainsAny(line[:n], "0123456789") {
		return ""
	}
	return line[:n]
}
