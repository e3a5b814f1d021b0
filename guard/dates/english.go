package dates

import (
	"cmp"
	"strings"
	"time"
)

// english is the span of English words that begins at token i, of no length for none.
func (f *finder) english(i int) span {
	if s := f.named(i); s.to > i {
		return s
	}
	if s := f.period(i); s.to > i {
		return s
	}
	if s := f.counted(i); s.to > i {
		return s
	}
	return f.weekdaySpan(i)
}

// named are yesterday, today and what is built of them.
func (f *finder) named(i int) span {
	s := span{from: i, to: i + 1, phrase: phrase{unit: day}}
	switch f.word(i) {
	case "today", "tonight":
	case "tomorrow":
		s.phrase.n = 1
	case "yesterday":
		s.phrase.n = -1
	case "last":
		if !f.is(i+1, "night") {
			return span{}
		}
		s.to, s.phrase.n = i+2, -1
	case "this":
		if !f.isPart(i+1) || f.is(i+1, "night") {
			return span{}
		}
		s.to = i + 2
	case "day":
		switch {
		case f.is(i+1, "after") && f.is(i+2, "tomorrow"):
			s.to, s.phrase.n = i+3, 2
		case f.is(i+1, "before") && f.is(i+2, "yesterday"):
			s.to, s.phrase.n = i+3, -2
		default:
			return span{}
		}
	default:
		return span{}
	}
	s = f.withPart(s)
	// Today in the midst of a sentence is a newspaper, Tomorrow a song.
	if f.tokens[i].upper && !f.opens(i) || f.moodAt(i).recurring || f.isExample(i) || f.isDeterminer(i-1) && !f.is(i, "day") || f.is(i-1, "like") || f.is(i-1, "just") && f.is(i-2, "like") {
		s.phrase = phrase{}
	}
	return s
}

// period are last week, this month, next year.
func (f *finder) period(i int) span {
	n, ok := f.direction(i)
	if !ok {
		return span{}
	}
	s := span{from: i, to: i + 2}
	switch f.word(i + 1) {
	case "week":
		s.phrase.unit = week
	case "weekend":
		s.phrase.unit = weekend
	case "month":
		s.phrase.unit = month
	case "year":
		s.phrase.unit = year
	default:
		return span{}
	}
	s.phrase.n = n
	if f.is(i, "coming") || f.is(i, "upcoming") || f.is(i, "past") {
		s.phrase = phrase{}
	}
	if wd, _, ok := f.weekday(s.to); ok && s.phrase.unit == week && f.tokens[i+1].tail == bare {
		s.to, s.phrase.unit, s.phrase.weekday = s.to+1, ofWeek, wd
	} else if wd, _, ok := f.weekday(s.to + 1); ok && s.phrase.unit == week && f.is(s.to, "on") {
		s.to, s.phrase.unit, s.phrase.weekday = s.to+2, ofWeek, wd
	}
	if s.phrase.unit == ofWeek {
		s = f.withPart(s)
	}
	// "The last week" is a span of time, "last week of the year" one of another.
	if f.isDeterminer(i-1) || f.is(s.to, "of") || f.moodAt(i).recurring || f.isExample(i) {
		s.phrase = phrase{}
	}
	return s
}

// isExample reports whether what stands at token i is named and not meant: it follows
// "such as", or the option of a command.
func (f *finder) isExample(i int) bool {
	if f.is(i-1, "as") && f.is(i-2, "such") {
		return true
	}
	return f.sortOf(i-1) == opaque && f.tokens[i-1].option
}

// isHabit reports whether a verb before "in 7 days" tells what always happens: logs
// rotate, entries are deleted.
func (f *finder) isHabit(i int) bool {
	switch f.word(i) {
	case "expire", "rotate", "lapse", "payable":
		return true
	}
	switch f.word(i - 1) {
	case "is", "are", "get", "gets":
		return isParticiple(f.word(i))
	}
	return false
}

// direction is the unit that a word points to: the one before, this, the next.
func (f *finder) direction(i int) (n int, ok bool) {
	switch f.word(i) {
	case "last", "past":
		return -1, true
	case "this":
		return 0, true
	case "next", "coming", "upcoming":
		return 1, true
	}
	return 0, false
}

// counted are in three days, two weeks ago, 10 days from now.
func (f *finder) counted(i int) span {
	in := f.is(i, "in")
	at := i
	if in {
		at++
	}
	n, ok := f.count(at)
	if !ok {
		return span{}
	}
	s := span{from: i, to: at + 2, phrase: phrase{n: n}}
	switch f.word(at + 1) {
	case "day", "days":
		s.phrase.unit = day
	case "week", "weeks":
		s.phrase.unit = week
	case "month", "months":
		s.phrase.unit = month
	case "year", "years":
		s.phrase.unit = year
	default:
		return span{}
	}
	if s.phrase.unit == week { // a day as well
		s.phrase.unit, s.phrase.n = day, 7*n
	}
	switch m := f.moodAt(i); {
	case f.is(s.to, "ago"):
		s.to, s.phrase.n = s.to+1, -s.phrase.n
		if m.recurring || f.isVague(i-1) || in {
			s.phrase = phrase{}
		}
	case f.is(s.to, "from") && (f.is(s.to+1, "now") || f.is(s.to+1, "today")):
		s.to += 2
		if m.recurring || f.isVague(i-1) || in {
			s.phrase = phrase{}
		}
	case f.is(s.to, "from"), !in: // of another day; a length of time
		return span{}
	case m.recurring, m.forbidding, m.condition, m.past, m.maybe, s.phrase.n == 1 && s.phrase.unit == day, f.isVague(s.to), f.mark("'", s.to) && f.isVague(s.to+1), f.is(i-1, "once"), f.is(i-1, "twice"), f.isHabit(i-1) && !m.future:
		// what lasts so long, or comes so long after something else
		s.phrase = phrase{}
	}
	return s
}

// count is the number that a token says, up to 999.
func (f *finder) count(i int) (int, bool) {
	if f.sortOf(i) == number && len(f.tokens[i].lower) <= 3 {
		n := 0
		for _, c := range f.tokens[i].lower {
			n = 10*n + int(c-'0')
		}
		return n, n > 0
	}
	switch f.word(i) {
	case "a", "an", "one":
		return 1, true
	case "two":
		return 2, true
	case "three":
		return 3, true
	case "four":
		return 4, true
	case "five":
		return 5, true
	case "six":
		return 6, true
	case "seven":
		return 7, true
	case "eight":
		return 8, true
	case "nine":
		return 9, true
	case "ten":
		return 10, true
	case "eleven":
		return 11, true
	case "twelve":
		return 12, true
	}
	return 0, false
}

// isVague reports whether a word beside a counted time makes it another or a rough one.
func (f *finder) isVague(i int) bool {
	switch f.word(i) {
	case "or", "to", "and", "of", "over", "than", "about", "around", "nearly", "almost", "roughly", "some", "straight", "within", "every", "each", "last", "past", "next":
		return true
	}
	return f.oneOf(i, "-", "–", "~")
}

// weekdaySpan is a day of the week with the words that say which.
func (f *finder) weekdaySpan(i int) span {
	at := i
	_, qualified := f.direction(i)
	if qualified {
		at++
	}
	wd, short, ok := f.weekday(at)
	if !ok {
		return span{}
	}
	s := span{from: i, to: at + 1, phrase: phrase{weekday: wd}}
	if n, to, ok := f.weekBehind(at + 1); ok && !qualified {
		s.to, s.phrase.unit, s.phrase.n = to, ofWeek, n
		if f.isDeterminer(i - 1) {
			s.phrase = phrase{}
		}
		return s
	}
	s = f.withPart(s)
	m := f.moodAt(i)
	switch {
	case m.recurring, f.isExample(i), f.isDeterminer(i - 1), f.inRange(s), f.isNumbered(s.to), f.is(s.to, "of"), f.is(s.to, "week"), f.is(s.to, "weeks"), f.is(s.to, "after") && f.is(s.to+1, "next"):
	case qualified:
		s.phrase.unit = f.pointed(i)
		s.phrase.n, _ = f.direction(i)
		if f.is(i, "next") {
			s.phrase.unit = ofWeek
		}
	case m.forbidding, !f.isBare(i, s.to, short), !m.past && f.inSchedule(i):
	default:
		s.phrase.unit = f.tense(i, m)
	}
	return s
}

// pointed is what last, this and coming make of a weekday.
func (f *finder) pointed(i int) unit {
	switch f.word(i) {
	case "last", "past":
		return latest
	case "this":
		return within
	}
	return ahead
}

// weekBehind is the week that the words behind a weekday name: next week, of last week.
func (f *finder) weekBehind(i int) (n, to int, ok bool) {
	if f.is(i, "of") {
		i++
	}
	n, ok = f.direction(i)
	if !ok || !f.is(i+1, "week") || f.is(i, "past") || f.tokens[i-1].dated != 0 {
		return 0, 0, false
	}
	return n, i + 2, true
}

// tense is the side on which a weekday lies that no word points to: of the future,
// but in a sentence of the past; none where that cannot be told.
func (f *finder) tense(i int, m mood) unit {
	switch f.word(i - 1) {
	case "since":
		return behind
	case "to", "for":
		return ahead
	case "by", "until", "till", "due":
		m.future = true
	}
	switch {
	case m.past && m.future, m.week:
		return none
	case m.past:
		return behind
	case m.maybe && !m.future:
		return none
	}
	return ahead
}

// isBare reports whether a weekday without a word that points stands for one day: it
// follows a preposition, or what follows is not what it is said of, as in Friday deploys.
func (f *finder) isBare(i, to int, short bool) bool {
	switch f.word(i - 1) {
	case "on", "by", "until", "till", "before", "after", "since", "due", "for", "to", "than":
		return true
	case "from":
		switch f.word(i - 2) {
		case "day", "days", "week", "weeks", "month", "months":
			return false
		}
		return true
	}
	if short {
		return false
	}
	if f.isNamed(i) {
		return false
	}
	if f.tokens[to-1].tail == possessive {
		return true
	}
	switch f.sortOf(to) {
	case word:
		return isFunction(f.word(to))
	case opaque, date:
		return false
	}
	return true
}

// isNamed reports whether the word before makes a name of a weekday: Black Friday,
// Patch Tuesday, and whatever else is written so.
func (f *finder) isNamed(i int) bool {
	switch f.word(i - 1) {
	case "black", "good", "cyber", "super", "ash", "palm", "patch", "giving", "easter", "holy", "maundy", "whit", "casual", "bloody",
		"freaky", "man", "girl", "taco", "early", "late":
		return true
	case "":
		return false
	}
	t := f.tokens[i-1]
	return t.upper && !f.opens(i-1)
}

// isFunction reports whether a word begins something new behind a weekday.
func isFunction(w string) bool {
	switch w {
	case "at", "in", "if", "and", "or", "but", "so", "we", "i", "they", "it", "he", "she", "you", "is", "was", "are", "will", "should", "must",
		"can", "unless", "when", "because", "since", "with", "for", "before", "after", "by", "on", "then", "this", "the", "a", "around", "about", "instead", "not", "that":
		return true
	}
	return false
}

// inRange reports whether a weekday is an end of several: Monday to Friday.
func (f *finder) inRange(s span) bool {
	joins := func(i int) bool {
		switch f.word(i) {
		case "to", "through", "thru", "until", "till":
			return true
		}
		return f.oneOf(i, "-", "–", "—")
	}
	_, _, after := f.weekday(s.to + 1)
	_, _, before := f.weekday(s.from - 2)
	return after && joins(s.to) || before && joins(s.from-1)
}

// scheduleTokens is how far from each other the weekdays of a schedule stand.
const scheduleTokens = 30

// inSchedule reports whether near token i three weekdays stand, or more, that no word
// points to: they tell when something happens every week.
func (f *finder) inSchedule(i int) bool {
	var days [7]bool
	n := 0
	for k := max(i-scheduleTokens, 0); k < min(i+scheduleTokens, len(f.tokens)); k++ {
		wd, _, ok := f.weekday(k)
		if ok {
			_, ok = f.direction(k - 1)
			ok = !ok
		} else if before := f.han(k - 1); before != "" && strings.Contains("周期拜", before) && !strings.Contains("上下这本个", cmp.Or(f.han(k-2), "x")) {
			wd, ok = f.weekdayHan(k)
		}
		if ok && !days[wd] {
			days[wd] = true
			n++
		}
	}
	return n >= 3
}

// isNumbered reports whether a number stands there alone, which may be the day of a
// month: Friday 13.
func (f *finder) isNumbered(i int) bool {
	return f.sortOf(i) == number && len(f.tokens[i].lower) <= 2 && !f.is(i+1, "am") && !f.is(i+1, "pm") && !f.is(i+1, "o") && !f.mark(":", i+1)
}

// isDeterminer reports whether a word before makes of what follows one of many, or a
// length of time: a Friday, the last week, the second Tuesday.
func (f *finder) isDeterminer(i int) bool {
	switch f.word(i) {
	case "the", "a", "an", "some", "any", "no", "one", "each", "every", "most", "many", "other", "another", "alternate", "first", "second",
		"third", "fourth", "fifth", "last", "next", "our", "my", "your", "their", "his", "her", "its", "that", "per":
		// The coming Friday is one day, whatever stands before it.
		return !f.is(i, "the") || !f.is(i+1, "coming") && !f.is(i+1, "upcoming")
	}
	return false
}

// withPart is a span with the part of the day behind it.
func (f *finder) withPart(s span) span {
	if f.isPart(s.to) && f.tokens[s.to-1].tail == bare {
		s.to++
	}
	return s
}

func (f *finder) isPart(i int) bool {
	switch f.word(i) {
	case "morning", "afternoon", "evening", "night":
		return true
	}
	return false
}

// opens reports whether token i is the first of a sentence, or of a line.
func (f *finder) opens(i int) bool {
	for i--; i >= 0 && f.sortOf(i) == mark && !f.tokens[i+1].first; i-- {
		if f.oneOf(i, ":", "-", "–", "—", "•", "|") {
			return true
		}
	}
	return i < 0 || f.sortOf(i) == stop || f.tokens[i+1].first
}

// weekday is the day of the week that token i names, and whether it is cut short. A
// short one that is a word of its own (sat, sun) is none, nor is one without a capital.
func (f *finder) weekday(i int) (wd time.Weekday, short, ok bool) {
	switch f.word(i) {
	case "monday":
		return time.Monday, false, true
	case "tuesday":
		return time.Tuesday, false, true
	case "wednesday":
		return time.Wednesday, false, true
	case "thursday":
		return time.Thursday, false, true
	case "friday":
		return time.Friday, false, true
	case "saturday":
		return time.Saturday, false, true
	case "sunday":
		return time.Sunday, false, true
	case "mon":
		return time.Monday, true, f.tokens[i].upper
	case "tue", "tues":
		return time.Tuesday, true, f.tokens[i].upper
	case "wed":
		return time.Wednesday, true, f.tokens[i].upper
	case "thu", "thur", "thurs":
		return time.Thursday, true, f.tokens[i].upper
	case "fri":
		return time.Friday, true, f.tokens[i].upper
	}
	return 0, false, false
}
