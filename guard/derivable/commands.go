package derivable

import (
	"regexp"
	"slices"
	"strings"
)

// maxCommandLines bounds what is taken for commands alone; a longer script is a
// file, and a rule on code may find it.
const maxCommandLines = 40

// maxCommand is how long a command may be, in bytes.
const maxCommand = 400

var (
	prompt = regexp.MustCompile(`^\s*(\([\w.-]+\) )?(\$|%|❯|PS [A-Z]:\\[^>]*>|[\w.-]+@[\w.-]+(:[^\s$#]*)?[$#]|\[[\w.-]+@[\w.-]+ [^\]]+\][$#]) +`)
	// before are what stands before a command without being one.
	before = regexp.MustCompile(`^((sudo|time|nohup|env|exec|command) +|[A-Z_][A-Z0-9_]*=\S* +)+`)
	// flagged is an argument as only commands have them.
	flagged = regexp.MustCompile(`(^|\s)(--?[A-Za-z0-9][\w-]*|\S*[/~*=@:]\S*|\.\S*|\S+\.(\w{1,5}|service)|[0-9a-f]{7,40}|\d+|&&|\||>|;)(\s|$|=)`)
	// worded is what sentences have and arguments do not. The dots of ./... and .. end none.
	worded = regexp.MustCompile(`(?i)(^|\s)(the|an?|of|that|which|this|is|are|was|were|be|should|must|may|not|never|always|before|after|when|where|because|unless|until|instead|rather|than|then|if|with|without|from|into|only|every|each|all|our|your|we|you|it|its|and|or|but|so|to|for|in|on|by|as|at|per|no|do|does|fails?|needs?|means?|shows?)(\s|$)|(^|[^\s./])\.+$|[!?。！？；，、]$|\p{Han}|[,.;:] \w`)
)

// momentary are programs, and the words after them, whose commands do something
// once or only look: what they did or saw can be seen again. Commands that a project has for good, such as its tests, are none.
func momentary(program, word string) bool {
	words, known := looksAt(program)
	return known && (words == "" || slices.Contains(strings.Fields(words), word))
}

// looksAt returns the words behind a program whose commands are momentary, "" for
// any, and whether it is known.
func looksAt(program string) (words string, known bool) {
	switch program {
	case "git":
		return "add checkout switch commit push pull fetch stash rebase cherry-pick reset merge revert clean log show blame diff status branch bisect restore rm mv tag clone", true
	case "docker", "podman":
		return "rm rmi exec logs kill stop start restart ps cp inspect images pull", true
	case "kubectl":
		return "get logs exec delete describe port-forward cp scale edit", true
	case "npm", "pnpm", "yarn", "pip", "pip3", "apt", "apt-get", "brew", "gem", "dnf":
		return "install add i uninstall remove update upgrade cache", true
	case "systemctl", "service":
		return "restart start stop status reload", true
	case "cd", "ls", "ll", "rm", "mv", "cp", "mkdir", "rmdir", "touch", "ln", "cat", "head", "tail", "less", "grep", "rg", "find",
		"sed", "awk", "chmod", "chown", "kill", "pkill", "killall", "ps", "lsof", "ssh", "scp", "rsync", "curl", "wget", "tar",
		"unzip", "gunzip", "export", "unset", "source", "echo", "vim", "nano", "du", "df", "jq", "xargs", "sqlite3", "psql":
		return "", true
	}
	return "", false
}

// bearing is what a line of commands is, the later the more it counts.
type bearing int

const (
	text    bearing = iota
	ready           // makes ready for what comes after it
	lasting         // a command that a project has for good
	once            // with one of the moment
)

// setsUp reports whether a momentary command only makes ready for those behind it:
// before one that lasts it is a part of that. Nothing lasts in a folder of the moment.
func setsUp(program, command string) bool {
	return slices.Contains([]string{"cd", "mkdir", "export", "source"}, program) && !strings.Contains(command, "/tmp/")
}

// isCommands reports whether a text is nothing but commands, one of them of the
// moment, or begins as the transcript of a shell with several.
func isCommands(all []string) bool {
	commands, prompts, lines := 0, 0, 0
	var seen [once + 1]int
	open := false // the line before goes on
	for _, line := range all {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "```") {
			continue
		}
		if lines++; lines > maxCommandLines {
			return false
		}
		shown := prompt.FindString(line)
		if shown != "" {
			prompts++
		} else if lines == 1 && strings.HasPrefix(line, "# ") {
			return false // a heading
		}
		is := commandIn(line[len(shown):], shown != "")
		if is != text || open || shown != "" {
			commands++
		}
		seen[is]++
		if lines == 1 && commands == 0 {
			return false
		}
		open = strings.HasSuffix(line, `\`)
	}
	if seen[once] == 0 && (seen[ready] == 0 || seen[ready] < commands) {
		return false
	}
	return commands == lines || prompts > 1 || prompts > 0 && lines > 1
}

// commandIn tells what a line is that is a command and nothing else. Behind a prompt
// no title is mistaken for one, and all that is not lasting was done once.
func commandIn(line string, prompted bool) (is bearing) {
	line, _, _ = strings.Cut(line, " # ")
	first, _, _ := strings.Cut(line[len(before.FindString(line)):], " ")
	if _, known := looksAt(first); len(line) > maxCommand || !known && !isTool(first) {
		return text // mostly, and before any pattern is asked
	}
	if worded.MatchString(unquoted(line)) {
		return text
	}
	for part := range strings.SplitSeq(strings.NewReplacer("&&", "\x00", "||", "\x00", "|", "\x00", ";", "\x00").Replace(line), "\x00") {
		part = strings.TrimSpace(part)
		part = part[len(before.FindString(part)):]
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		second := ""
		if len(words) > 1 {
			second = words[1]
		}
		switch {
		case momentary(words[0], second) && (prompted || argued(words)):
			if prompted || !setsUp(words[0], part) {
				return once
			}
			is = max(is, ready)
		case isTool(words[0]) && len(words) > 1:
			is = max(is, lasting)
		}
	}
	return is
}

// argued reports whether what follows a program's name are arguments, not the rest
// of a title such as "git rebase policy" or "top 10 customers".
func argued(words []string) bool {
	rest := strings.Join(words[1:], " ")
	switch words[0] {
	case "git", "docker", "podman", "kubectl", "npm", "pnpm", "yarn", "pip", "pip3", "apt", "apt-get", "brew", "gem", "dnf", "systemctl":
		rest = strings.Join(words[min(2, len(words)):], " ")
		return flagged.MatchString(rest) || slices.ContainsFunc(words[2:], isRef)
	case "find", "kill", "head", "tail", "source", "less", "echo", "service", "cat", "touch", "export", "ps", "mv", "cp":
		return surelyFlagged.MatchString(rest)
	}
	return len(words) == 1 || flagged.MatchString(rest)
}

// surelyFlagged is flagged for programs whose names are words as well.
var surelyFlagged = regexp.MustCompile(`(^|\s)(-[A-Za-z0-9]|--[a-z]|\S*[/=~]|\.\S|\S+\.\w{1,5}(\s|$))`)

// isRef reports whether a word names a branch or a remote as everybody does.
func isRef(word string) bool {
	return slices.Contains([]string{"origin", "upstream", "main", "master", "HEAD", "develop", "pop", "apply", "abort"}, word)
}

// isTool reports whether a word is a program that projects are built with.
func isTool(word string) bool {
	switch word {
	case "go", "make", "cargo", "npm", "npx", "pnpm", "yarn", "python", "python3", "pytest", "node", "docker", "docker-compose",
		"kubectl", "helm", "terraform", "mvn", "gradle", "./gradlew", "git", "bash", "sh", "tox", "uv", "poetry", "bazel", "cmake":
		return true
	}
	return strings.HasPrefix(word, "./") || strings.HasPrefix(word, "bin/")
}

var quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// unquoted is a command without what stands in quotes, such as a message.
func unquoted(line string) string { return quoted.ReplaceAllString(line, "x") }
