package dates

import "strings"

// mood is what a sentence says of the time of its weekdays, by single words: it
// parses no grammar, and where the words disagree the weekday is left alone.
type mood struct {
	past       bool // was, did, 了
	maybe      bool // a word in -ed, which may be of the past
	future     bool // will, plans, 将
	recurring  bool // every, usually, 每
	forbidding bool // never, do not, 禁止
	condition  bool // if, when, once
	week       bool // next week, 上周: a weekday without a word that points may be of that one
}

// moodAt is the mood of the sentence that token i stands in. It looks at every
// sentence once.
func (f *finder) moodAt(i int) mood {
	if i >= f.from && i < f.to {
		return f.mood
	}
	f.from, f.to, f.mood = f.sentence(i)
	return f.mood
}

// sentence is the sentence of token i, and its mood.
func (f *finder) sentence(i int) (from, to int, m mood) {
	from, to = i, i
	for from > 0 && f.tokens[from-1].sort != stop {
		from--
	}
	for to < len(f.tokens) && f.tokens[to].sort != stop {
		to++
	}
	for k := from; k < to; k++ {
		switch f.tokens[k].sort {
		case word:
			f.feelWord(k, &m)
		case han:
			f.feelHan(k, &m)
		}
	}
	return from, to, m
}

func (f *finder) feelWord(k int, m *mood) {
	t := f.tokens[k]
	if t.tail == will {
		m.future = true
	}
	switch t.lower {
	case "was", "were", "did", "didn", "wasn", "weren", "had", "hadn", "went", "broke", "came", "began", "got", "took", "saw", "sent",
		"ran", "found", "made", "met", "lost", "wrote", "fell", "told", "couldn":
		m.past = true
	case "x": // a task that is done
		m.past = m.past || f.mark("[", k-1) && f.mark("]", k+1)
	case "could":
		m.past = m.past || f.is(k+1, "not")
	case "will", "won", "shall", "should", "must", "going", "plan", "plans", "planned", "planning", "schedule", "schedules", "scheduled",
		"expect", "expects", "expected", "due", "deadline", "upcoming", "postponed", "rescheduled":
		m.future = true
	case "every", "each", "always", "usually", "often", "typically", "generally", "normally", "regularly", "weekly", "daily", "monthly",
		"yearly", "biweekly", "whenever", "per", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays",
		"weekdays", "weekends", "cron", "cronjob", "recurring", "default", "defaults", "word", "words", "phrase", "phrases", "keyword", "keywords":
		m.recurring = true
	case "week":
		_, _, named := f.weekday(k + 1)
		m.week = m.week || !named && (f.is(k-1, "next") || f.is(k-1, "last"))
	case "no":
		m.forbidding = m.forbidding || !f.is(k+1, "later")
	case "never", "avoid", "don", "cannot", "forbidden", "prohibited", "banned":
		m.forbidding = true
	case "if", "when", "once", "after", "until", "times":
		m.condition = true
	case "not":
		m.forbidding = m.forbidding || f.is(k-1, "do")
	case "to":
		switch f.word(k - 1) {
		case "agreed", "decided", "wants", "want", "needs", "need", "has", "have", "supposed", "promised":
			m.future = true
		}
	default:
		if !isParticiple(t.lower) {
			return
		}
		switch f.word(k - 1) {
		case "we", "i", "they", "he", "she", "it", "you", "who":
			if t.lower != "agreed" && t.lower != "decided" && t.lower != "promised" && t.lower != "moved" && t.lower != "wanted" && t.lower != "needed" && t.lower != "asked" {
				m.past = true
			}
			m.maybe = true
		case "is", "are", "be", "being", "am", "gets", "get":
		default:
			m.maybe = true
		}
	}
}

// isParticiple reports whether a word ends as a verb of the past does.
func isParticiple(w string) bool {
	if len(w) < 4 || !strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "eed") {
		return w == "built" || w == "done" || w == "shut" || w == "held"
	}
	return true
}

func (f *finder) feelHan(k int, m *mood) {
	two := f.tokens[k].lower + f.han(k+1)
	switch two {
	case "总是", "通常", "一般", "平时", "定期", "经常", "例行", "默认", "除外", "营业":
		m.recurring = true
	case "下周", "上周":
		if _, named := f.weekdayHan(k + 2); !named {
			m.week = true
		}
	case "禁止", "严禁", "从不", "永不", "不得", "不准", "不许", "不要", "不能", "别在":
		m.forbidding = true
	case "已经", "曾经", "刚刚":
		m.past = true
	case "计划", "预计", "打算", "准备", "即将", "必须":
		m.future = true
	}
	switch f.tokens[k].lower {
	case "每", "逢":
		m.recurring = true
	case "了", "过", "已":
		m.past = m.past || two != "过后" && two != "过期" && two != "过程" && two != "了解" && two != "过滤" && two != "过渡"
	case "将", "会", "要":
		m.future = m.future || two != "会议" && two != "要求" && two != "要点" && two != "会员" && two != "会话"
	}
}

// clause is the mood of what stands between commas around token i, where Chinese
// strings sentences together; of the sentence, where that is nothing but the words.
func (f *finder) clause(from, to int) mood {
	a, b := from, to
	for a > 0 && !f.ends(a-1) && from-a < maxClause {
		a--
	}
	for b < len(f.tokens) && !f.ends(b) && b-to < maxClause {
		b++
	}
	if a == from && b == to {
		return f.moodAt(from)
	}
	var m mood
	for k := a; k < b; k++ {
		if f.tokens[k].sort == han {
			f.feelHan(k, &m)
		}
	}
	return m
}

// maxClause bounds the characters before and behind that tell of a weekday, so that
// a text without a comma is not read again for each.
const maxClause = 60

func (f *finder) ends(i int) bool {
	return f.tokens[i].sort == stop || f.oneOf(i, "，", ",")
}
