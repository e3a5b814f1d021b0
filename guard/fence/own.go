package fence

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words that say no more than that something was recalled, and from where. Those of
// the first list speak of memories, those of the second go with them. A text of
// these alone holds nothing of its own.
const (
	ofMemories = " memory memories memd recalled recall remembered remember told know knows known stored saved retrieved context observations notes "
	company    = " a an the this that these those here there is are was were it its i my me you your we our us he she they said says from of in on " +
		"for to by and as at with below above following follows what which has have had got get gave given returned back output result results " +
		"answer answers tool call called mcp cli text block quote quoted quoting copied pasted copy paste verbatim again all some now so far today " +
		"session last previous earlier own s m ve re do did current relevant latest manifest list entries entry lines line json markdown "
)

// Their like in Chinese, where no space parts them; the longest first.
const (
	chineseOfMemories = `上下文 记忆 回忆 记得 记住 存储 保存 检索`
	chineseCompany    = `以下 如下 下面 上面 这些 这里 内容 来自 结果 输出 关于 根据 我们 会话 这 是 我 的 了 你 它 说 从 中 到 在 有 为 和`
)

// wordless reports whether s holds no word and no number beyond those lists.
func wordless(s string) bool {
	for word := range words(s) {
		word = " " + word + " "
		if !strings.Contains(ofMemories, word) && !strings.Contains(company, word) && without(word) != "" {
			return false
		}
	}
	return true
}

// words are those of s in small letters, and its numbers; a run of Chinese is one.
func words(s string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// without is word without what the Chinese lists have of it.
func without(word string) string {
	if plainASCII(word) {
		return word
	}
	for _, w := range append(strings.Fields(chineseOfMemories), strings.Fields(chineseCompany)...) {
		word = strings.ReplaceAll(word, w, "")
	}
	return strings.TrimSpace(word)
}

// speaks reports whether s speaks of memories.
func speaks(s string) bool {
	for word := range words(s) {
		if strings.Contains(ofMemories, " "+word+" ") {
			return true
		}
	}
	return slices.ContainsFunc(strings.Fields(chineseOfMemories), func(w string) bool { return strings.Contains(s, w) })
}

// Bounds of a line that announces memories, such as "What I know of deploys:".
const (
	maxAnnouncedWords = 12
	maxAnnouncedChars = 80
)

// preface is what stands before the fence in the answer of a tool of package mcp.
const preface = `(?:Incomplete: [a-z, ]+ could not be asked\.[ \n]*)?(?:\d+ memories|1 memory)\.(?: More with cursor [A-Za-z0-9_-]+\.)?`

var (
	prefaced   = regexp.MustCompile(`^` + preface + `$`)
	incomplete = regexp.MustCompile(`^Incomplete: [a-z, ]+ could not be asked\.$`)
	beforeSign = regexp.MustCompile(`(?m)^([` + marks + `]*)` + preface + `[ \t]*([` + opened + whole + `])`)
)

// ofWords is the class of a line of words.
func ofWords(s string) class {
	if wordless(s) {
		return empty
	}
	if said := strings.Trim(s, "\"'` \t"); strings.HasSuffix(said, ".") && (prefaced.MatchString(said) || incomplete.MatchString(said)) {
		return empty
	}
	if len(s) > utf8.UTFMax*maxAnnouncedChars {
		return own
	}
	s = strings.TrimRight(s, " \t*_`"+signs)
	if (strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")) && speaks(s) && len(strings.Fields(s)) <= maxAnnouncedWords && utf8.RuneCountInString(s) <= maxAnnouncedChars {
		return announcing
	}
	return own
}
