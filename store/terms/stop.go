package terms

import (
	"strings"
	"unicode/utf8"
)

// stopWords holds the words, characters and bigrams that say little about what
// a text is about: function and question words, and what contractions fall
// apart into (don't: don, t).
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(englishStops + chineseStops) {
		m[w] = true
	}
	return m
}()

const englishStops = `
a about after again all also am an and any are as at be because been before
being between both but by can cannot could did do does doing done during each
either else for from further get gets got had has have having he her here hers
him his how i if in into is it its itself just let may me might mine more most
many much must my neither no nor not now of off on once only or other our ours out
over own please same shall she should so some such than that the their theirs
them then there these they this those through to too under until up us very
was we were what when where whether which while who whom whose why will with
would yet you your yours
aren couldn d didn doesn don hadn hasn haven isn ll m re s shouldn t ve wasn
weren wouldn eg ie etc
`

const chineseStops = `
的 了 是 在 吗 呢 吧 啊 呀 嘛 么 什 和 与 或 及 也 就 都 而 但 若 则 且 我 你 他 她 它 们 您
这 那 哪 谁 把 被 给 对 从 到 为 以 于 之 其 着 过 很 还 又 再 要 会 能 可 该 请 个 些 让 由 将 所 地 得 啥 几
怎 样 办
什么 怎么 怎样 为什 为何 为啥 如何 哪个 哪些 哪里 哪种 哪儿 多少 几个 是否 可以 能否 这个 那个 这些 那些
这里 那里 这样 那样 我们 你们 他们 她们 它们 咱们 自己 以及 或者 因为 所以 但是 如果 虽然 不过 而且 并且
然后 已经 一个 一下 一些 有没 没有 不是 是不 能不 要不 么样 请问 告诉 知道 应该 需要 时候 的话 还是 就是
`

// particles are characters that end or bridge words. A bigram with one of them
// is mostly an accident of the bigrams (库的 of 数据库的迁移), rare in the
// index and yet saying nothing.
const particles = "的了吗呢吧啊嘛么是"

// realWords are the bigrams with a particle that do say something.
const realWords = "目的 的确 标的 了解 明了 罢了 了结 是非"

// isStop reports whether a folded, unstemmed token is a stop word. A bigram of
// two stop characters is one too.
func isStop(token []byte) bool {
	if stopWords[string(token)] {
		return true
	}
	if len(token) != 6 || token[0] < 0xE3 {
		return false
	}
	a, n := utf8.DecodeRune(token)
	b, m := utf8.DecodeRune(token[n:])
	if n != 3 || m != 3 || strings.Contains(realWords, string(token)) {
		return false
	}
	return strings.ContainsRune(particles, a) || strings.ContainsRune(particles, b) ||
		stopWords[string(a)] && stopWords[string(b)]
}
