// Package dates puts the date beside words that tell it by the day of writing:
// "Thursday" becomes "Thursday (2026-12-03)", "下周四" becomes "下周四（2026-12-10）". The
// words stay. Who reads the text a month later knows the day.
//
// The rule that wants it is that of people who let agents keep notes: relative dates in
// what a user says are made absolute when they are saved. Words that stand for no one
// day, such as every Friday, and those that may be something else, are left alone: a
// date that is wrong does more harm than none.
//
// Which words tell a date is found here, in one pass over the text; the calendar is
// that of a library (docs/adr/0015-dates.md), which gets a few fixed phrases and never a text.
package dates

import (
	"slices"
	"strings"
	"time"

	"memd/guard/reading"
)

// Absolute is a text with the dates beside the words that tell them, on the day of at
// in its zone. A word that a date stands beside already is left alone, so that
//
//	Absolute(Absolute(text, a), b) == Absolute(text, a)
//
// but for words that could not be told on the day of a.
func Absolute(text string, at time.Time) string {
	if !MayTell(text) {
		return text
	}
	tokens := tokensOf(text)
	c := calendar{at, map[phrase][2]string{}}
	return with(text, tokens, func(i int, s span) string {
		first, last := c.dates(s.phrase)
		if first == "" {
			return ""
		}
		return written(first, last, tokens[s.to-1].sort == han)
	})
}

// Carried is a text with the dates that stand beside the same words in another, which
// is from earlier. Where the two do not tell dates by the same words it is as it was.
func Carried(text, from string) string {
	if !MayTell(text) || !MayTell(from) {
		return text
	}
	tokens, old := tokensOf(text), tokensOf(from)
	spans, before := spansOf(tokens), spansOf(old)
	if !slices.EqualFunc(spans, before, func(a, b span) bool {
		return slices.EqualFunc(tokens[a.from:a.to], old[b.from:b.to], func(a, b token) bool { return a.lower == b.lower && a.tail == b.tail })
	}) {
		return text
	}
	return with(text, tokens, func(i int, s span) string { return old[before[i].to-1].date(from) })
}

// Stripped is a text without the dates that stand beside the words that tell them.
func Stripped(text string) string {
	if !MayTell(text) {
		return text
	}
	tokens := tokensOf(text)
	var b strings.Builder
	at := 0
	for _, s := range spansOf(tokens) {
		if last := tokens[s.to-1]; last.dated != 0 {
			b.WriteString(text[at:last.to])
			at = int(last.to + last.dated)
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

// with is a text with what beside returns behind each span that has no date yet.
func with(text string, tokens []token, beside func(i int, s span) string) string {
	var b strings.Builder
	at := 0
	for i, s := range spansOf(tokens) {
		last := tokens[s.to-1]
		if last.dated != 0 {
			continue
		}
		if d := beside(i, s); d != "" {
			b.WriteString(text[at:last.to])
			b.WriteString(d)
			at = int(last.to)
		}
	}
	b.WriteString(text[at:])
	return b.String()
}

// MayTell reports whether a text holds a word of those that tell a date. It costs
// little, and most texts hold none.
func MayTell(text string) bool {
	for _, w := range [...]string{"day", "week", "month", "year", "orrow", "night", "orning", "ternoon", "vening", "Mon", "Tue", "Wed", "Thu", "Fri"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	if reading.Plain(text) {
		return false
	}
	for _, w := range [...]string{"天", "周", "週", "星期", "礼拜", "禮拜", "个月", "個月", "本月", "上月", "下月", "年", "今日", "明日", "昨", "今晚", "明晚", "今早", "明早"} {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
