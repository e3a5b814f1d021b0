// Package derivable tells texts that need not be remembered, because the code,
// its history or a log can be asked for them: stack traces, diffs, long blocks of
// code, the output of git log, commands that were run once. What such a text
// taught is worth a memory; the text itself is older than its source from the day
// it is stored.
//
// The rules are pure, and err on the side of letting a text pass: a rule that
// names a command, a pitfall that quotes a line of an error and a short snippet
// are durable facts.
package derivable

import (
	"slices"
	"strings"
)

// Rule is the name of a rule.
type Rule string

// Rules, in the order in which they are tried.
const (
	StackTrace Rule = "stack_trace" // frames of a Go, Python, Java, JavaScript, Rust, C# or Ruby program
	Diff       Rule = "diff"        // a unified diff
	GitLog     Rule = "git_log"     // output of git log, status or blame
	CodeBlock  Rule = "code_block"  // more than MaxCodeLines lines of code
	Command    Rule = "command"     // commands of one moment and nothing said of them
)

// MaxCodeLines is how many lines of code a memory may quote in one piece.
const MaxCodeLines = 20

// Rules returns every rule.
func Rules() []Rule { return []Rule{StackTrace, Diff, GitLog, CodeBlock, Command} }

// Said is what a rule is called in a sentence.
func (r Rule) Said() string {
	switch r {
	case StackTrace:
		return "a stack trace"
	case Diff:
		return "a diff"
	case GitLog:
		return "output of git"
	case CodeBlock:
		return "a long block of code"
	}
	return "nothing but commands"
}

// Texts are those of one memory.
type Texts struct {
	Summary, RawContent, Why, HowToApply string
}

// Finding is a field that one rule applies to. It holds nothing of the text.
type Finding struct {
	Rule  Rule
	Field string
}

// Look returns the first rule that applies to each field, in the order of the
// fields.
func Look(t Texts) []Finding {
	var found []Finding
	reasoned := strings.TrimSpace(t.Why) != "" || strings.TrimSpace(t.HowToApply) != ""
	for _, f := range []struct{ name, text string }{
		{"summary", t.Summary}, {"raw_content", t.RawContent}, {"why", t.Why}, {"how_to_apply", t.HowToApply},
	} {
		rule := Of(f.text)
		// A command that a reason stands beside is an instruction, and so is what
		// is kept behind a summary in words.
		if rule == Command && (reasoned || f.name != "summary" && t.Summary != "") {
			continue
		}
		if rule != "" {
			found = append(found, Finding{rule, f.name})
		}
	}
	return found
}

// Of returns the rule that applies to a text by itself, "" for none.
func Of(text string) Rule {
	all := linesOf(text)
	switch {
	case isTrace(all):
		return StackTrace
	case isDiff(all):
		return Diff
	case isGitOutput(all):
		return GitLog
	case isCode(all):
		return CodeBlock
	case isCommands(all):
		return Command
	}
	return ""
}

// linesOf splits a text, also one whose line ends were escaped on the way, and
// drops the marks of a quotation.
func linesOf(text string) []string {
	if !strings.Contains(text, "\n") && strings.Count(text, `\n`) > 1 {
		text = strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t").Replace(text)
	}
	all := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if !slices.ContainsFunc(all, func(line string) bool { return line != "" && !strings.HasPrefix(line, ">") }) {
		for i, line := range all {
			all[i] = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		}
	}
	return all
}
