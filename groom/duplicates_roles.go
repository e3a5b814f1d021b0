package groom

import "strings"

// role says what a word does in a statement.
type role uint8

const (
	wordSays     role = iota // it is a content word
	wordSilent               // it says nothing
	wordDecides              // no other word can stand for it
	wordCommands             // must, always
	wordDenies               // never, not
	wordRelates              // before, from: what follows is another word for it
	wordTurns                // use: after a comma it ends what a negation reaches
	wordOpposes              // but: it ends that in any case
)

// roles are the words that have one, folded. Chinese ones are found within runs
// of characters, the longest first.
var roles = func() map[string]role {
	of := map[string]role{}
	for r, list := range roleLists {
		for word := range strings.FieldsSeq(list) {
			of[word] = role(r)
		}
	}
	return of
}()

var roleLists = [...]string{
	wordSilent: `run runs running execute executed invoke launch utilize employ perform include includes contain contains ship comes bring provide
 ensure sure every need needs have has may can allowed permitted allow please e.g i.e etc and/or
 在 请 把 的 了 允许 可以`,
	wordDecides: `off out up down under above below more less most least none same other once twice
 enable enabled disable disabled increase decrease add remove start stop minimum maximum min max first last public private
 启用 停用 禁用 开启 关闭 增加 减少 最大 最小`,
	wordCommands: `must always should shall required ought mandatory
 必须 务必 应当 应该 一定要 一律 总是 始终 需要`,
	wordDenies: `never not no cannot nor neither avoid avoids refrain forbidden prohibited disallowed banned prohibit forbid
 禁止 严禁 从不 不得 不要 不能 不可 不许 不准 不应 不该 不会 不再 不允许 不可以 不应该 而不是 切勿 请勿 勿 千万别 避免 杜绝`,
	wordRelates: `before after from over than instead without unless except until only if into
 先 再 然后 从 到`,
	wordTurns:   `use uses using used prefer do for when 改用 使用`,
	wordOpposes: `but 但 而`,
}
