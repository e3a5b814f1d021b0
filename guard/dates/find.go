package dates

import "time"

// unit is what a phrase counts in.
type unit uint8

const (
	none unit = iota
	day
	week
	weekend
	month
	year
	ofWeek // a day of the week that n tells
	ahead  // a weekday that is to come
	behind // a weekday that is past
	latest // a weekday, the last one before this week
	within // a weekday of this week, that is not past
)

// phrase is what words say: n units from the day of writing, or a weekday.
type phrase struct {
	unit    unit
	n       int
	weekday time.Weekday
}

// span are the tokens from (with) to (without) that say when. Its phrase is that of
// none where the words are left alone.
type span struct {
	from, to int
	phrase   phrase
}

// maxSpans bounds what is looked at in one text: a list of more dates than this is
// no memory.
const maxSpans = 64

// finder finds what says when.
type finder struct {
	tokens []token
	spans  []span
	mood   mood // of the sentence that was looked at last
	from   int  // where that begins and ends, of tokens
	to     int
}

// spansOf are the first maxSpans spans of a text, in their order.
func spansOf(tokens []token) []span {
	f := finder{tokens: tokens, to: -1}
	for i := 0; i < len(tokens) && len(f.spans) < maxSpans; {
		s := span{}
		switch tokens[i].sort {
		case word:
			s = f.english(i)
		case han:
			s = f.chinese(i)
		case number:
			if s = f.english(i); s.to == 0 {
				s = f.chinese(i)
			}
		}
		if s.to <= i {
			i++
			continue
		}
		if s.phrase.unit != none && !f.standsAlone(s) {
			s.phrase = phrase{}
		}
		f.spans = append(f.spans, s)
		i = s.to
	}
	return f.spans
}

// is reports whether token i is that word, joined to the one before by nothing but
// white space.
func (f *finder) is(i int, w string) bool { return f.word(i) == w && w != "" }

// word is the word that token i is, "" where it is none.
func (f *finder) word(i int) string {
	if i < 0 || i >= len(f.tokens) || f.tokens[i].sort != word {
		return ""
	}
	return f.tokens[i].lower
}

// han is the Chinese character that token i is, "" where it is none.
func (f *finder) han(i int) string {
	if i < 0 || i >= len(f.tokens) || f.tokens[i].sort != han {
		return ""
	}
	return f.tokens[i].lower
}

// sortOf is the sort of token i, stop beyond the ends.
func (f *finder) sortOf(i int) sort {
	if i < 0 || i >= len(f.tokens) {
		return stop
	}
	return f.tokens[i].sort
}

// mark reports whether token i is that punctuation.
func (f *finder) mark(text string, i int) bool {
	return f.sortOf(i) == mark && f.tokens[i].lower == text
}

// standsAlone reports whether a span is no part of something else: a name, a mention,
// a formula, a date that the text states itself, and is in one piece.
func (f *finder) standsAlone(s span) bool {
	for i := s.from; i < s.to-1; i++ {
		if f.tokens[i].dated != 0 {
			return false
		}
	}
	before, after := s.from-1, s.to
	if f.oneOf(before, `"`, "“", "'", "‘", "「", "《") && f.oneOf(after, `"`, "”", "'", "’", "」", "》") {
		return false
	}
	if f.oneOf(before, "=", "+", "<", ">", "$", "@", "%") || f.oneOf(after, "=", "+", "<", ">") {
		return false
	}
	return !f.dateBehind(after) && !f.dateBefore(before)
}

func (f *finder) oneOf(i int, marks ...string) bool {
	for _, m := range marks {
		if f.mark(m, i) {
			return true
		}
	}
	return false
}

// dateBehind reports whether a date of the text's own begins at token i, or behind
// what joins it to the words before.
func (f *finder) dateBehind(i int) bool {
	for n := 0; n < 2 && f.oneOf(i, ",", "，", "(", "（", ":", "：", "–", "—", "-"); n++ {
		i++
	}
	if f.is(i, "the") || f.is(i, "on") {
		i++
	}
	switch f.sortOf(i) {
	case date:
		return true
	case number:
		switch f.han(i + 1) {
		case "月", "号":
			return true
		case "年":
			return len(f.tokens[i].lower) == 4
		}
		return isMonth(f.word(i+1)) || f.is(i+1, "of") && isMonth(f.word(i+2))
	case word:
		return isMonth(f.word(i)) && (f.sortOf(i+1) == number || f.sortOf(i+1) == date)
	}
	return false
}

// dateBefore reports whether a date of the text's own ends at token i, or before what
// joins it to the words behind.
func (f *finder) dateBefore(i int) bool {
	for n := 0; n < 2 && f.oneOf(i, ",", "，", "(", "（"); n++ {
		i--
	}
	switch f.sortOf(i) {
	case date:
		return true
	case number:
		return isMonth(f.word(i-1)) || f.mark(",", i-1) && isMonth(f.word(i-3)) || isMonth(f.word(i-2))
	case word:
		return isMonth(f.word(i)) && (f.sortOf(i-1) == number || f.sortOf(i-1) == date)
	case han:
		return (f.han(i) == "日" || f.han(i) == "号") && f.sortOf(i-1) == number
	}
	return false
}

// isMonth reports whether a word is the name of a month, or short for it.
func isMonth(w string) bool {
	switch w {
	case "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec":
		return true
	}
	return false
}
