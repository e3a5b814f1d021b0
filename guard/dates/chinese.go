package dates

import (
	"strings"
	"time"
)

// chinese is the span of Chinese words that begins at token i, of no length for none.
func (f *finder) chinese(i int) span {
	if s := f.countedHan(i); s.to > i {
		return s
	}
	if s := f.weekHan(i); s.to > i {
		return s
	}
	return f.namedHan(i)
}

// run is the Chinese characters from token i on that nothing parts, at most n.
func (f *finder) run(i, n int) string {
	var b strings.Builder
	for k := i; k < i+n && f.han(k) != "" && (k == i || f.joined(k)); k++ {
		b.WriteString(f.han(k))
	}
	return b.String()
}

// joined reports whether nothing stands between token i and the one before.
func (f *finder) joined(i int) bool {
	return i > 0 && i < len(f.tokens) && f.tokens[i].glued && f.tokens[i-1].dated == 0
}

// namedHan are 昨天, 明年, 上个月 and the like.
func (f *finder) namedHan(i int) span {
	if !strings.Contains("大今明昨后前去上下这本", f.han(i)) {
		return span{}
	}
	run := f.run(i, 4)
	for _, w := range [...]struct {
		text   string
		phrase phrase
	}{
		{"大后天", phrase{day, 3, 0}}, {"大前天", phrase{day, -3, 0}},
		{"今天", phrase{day, 0, 0}}, {"今日", phrase{day, 0, 0}}, {"今晚", phrase{day, 0, 0}}, {"今早", phrase{day, 0, 0}},
		{"明天", phrase{day, 1, 0}}, {"明日", phrase{day, 1, 0}}, {"明晚", phrase{day, 1, 0}}, {"明早", phrase{day, 1, 0}},
		{"昨天", phrase{day, -1, 0}}, {"昨日", phrase{day, -1, 0}}, {"昨晚", phrase{day, -1, 0}}, {"昨夜", phrase{day, -1, 0}},
		{"后天", phrase{day, 2, 0}}, {"前天", phrase{day, -2, 0}},
		{"今年", phrase{year, 0, 0}}, {"明年", phrase{year, 1, 0}}, {"去年", phrase{year, -1, 0}}, {"后年", phrase{year, 2, 0}}, {"前年", phrase{year, -2, 0}},
		{"上上个月", phrase{month, -2, 0}}, {"下下个月", phrase{month, 2, 0}}, {"上个月", phrase{month, -1, 0}}, {"下个月", phrase{month, 1, 0}},
		{"这个月", phrase{month, 0, 0}}, {"本月", phrase{month, 0, 0}}, {"上月", phrase{month, -1, 0}}, {"下月", phrase{month, 1, 0}},
	} {
		if !strings.HasPrefix(run, w.text) {
			continue
		}
		s := span{from: i, to: i + len(w.text)/len("天"), phrase: w.phrase}
		if f.isOther(w.text, i-1, s.to) || f.clause(i, s.to).recurring {
			s.phrase = phrase{}
		}
		return f.withPartHan(s)
	}
	return span{}
}

// isOther reports whether the characters around make other words of these.
func (f *finder) isOther(text string, before, after int) bool {
	in := func(i int, set string) bool { c := f.han(i); return c != "" && strings.Contains(set, c) }
	switch text {
	case "明天", "明年", "明日", "明晚", "明早":
		if text == "明日" && in(after, "方") || text == "明年" && in(after, "度") {
			return true
		}
		return in(before, "说证发聪透声表文光黎分鲜简高英贤神清标注阐") && in(after, "气真空文才花赋堂线平敌鹅使然确") || in(before, "聪透黎简")
	case "后天", "前天", "后年", "前年":
		return in(before, "以之然最随此今先午饭会课班目从当提月年天周后前") || in(after, "气空花然生性免线轻薪龄级度均代赋天")
	case "今日", "今天":
		// 去年今日, 去年的今天
		return text == "今日" && in(after, "头頭") || in(before, "年") || in(before, "的") && in(before-1, "年")
	case "昨日":
		return in(before, "一") // Japanese: the day before
	case "今年", "去年":
		return in(after, "度")
	case "昨天":
		return false
	case "上月", "下月", "本月":
		return in(before, "以如日基根资")
	}
	return in(before, "以")
}

// withPartHan is a span with the part of the day behind it.
func (f *finder) withPartHan(s span) span {
	if f.joined(s.to) {
		switch f.run(s.to, 2) {
		case "上午", "下午", "中午", "晚上", "早上", "凌晨", "傍晚", "早晨", "夜里", "清晨":
			s.to += 2
		}
	}
	return s
}

// weekHan are 下周, 上周五, 星期四, 这个周末.
func (f *finder) weekHan(i int) span {
	if !strings.Contains("上下这本周星礼", f.han(i)) {
		return span{}
	}
	n, at := f.whichWeek(i)
	pointed := at > i
	switch two := f.run(at, 2); {
	case pointed && !f.joined(at):
		return span{}
	case two == "星期", two == "礼拜":
		at += 2
	case strings.HasPrefix(two, "周"):
		at++
	default:
		return span{}
	}
	if pointed {
		at = f.weekTwice(at)
	}
	s := span{from: i, to: at, phrase: phrase{unit: week, n: n}}
	wd, named := f.weekdayHan(at)
	switch {
	case f.joined(at) && f.han(at) == "末":
		s.to++
		s.phrase.unit = weekend
		if !pointed {
			s.phrase = phrase{}
		}
	case named:
		s.to++
		s.phrase.weekday, s.phrase.unit = wd, ofWeek
	case !pointed:
		return span{}
	}
	if !f.meansWeek(s, pointed, named) {
		s.phrase = phrase{}
	} else if named && !pointed {
		s.phrase.unit = f.tenseHan(s)
	}
	if named {
		s = f.withPartHan(s)
	}
	return s
}

// weekTwice is where the day stands of a week that is named again: 下周周五, 下周的周五.
func (f *finder) weekTwice(at int) int {
	k := at
	if f.joined(k) && f.han(k) == "的" {
		k++
	}
	if !f.joined(k) {
		return at
	}
	switch two := f.run(k, 2); {
	case two == "星期", two == "礼拜":
		k += 2
	case strings.HasPrefix(two, "周"):
		k++
	default:
		return at
	}
	if _, ok := f.weekdayHan(k); !ok {
		return at
	}
	return k
}

// whichWeek is the week that the characters at token i point to, and where they end.
func (f *finder) whichWeek(i int) (n, to int) {
	run := f.run(i, 3)
	for _, w := range [...]struct {
		text string
		n    int
	}{{"上上个", -2}, {"下下个", 2}, {"上上", -2}, {"下下", 2}, {"上个", -1}, {"下个", 1}, {"这个", 0}, {"上", -1}, {"下", 1}, {"这", 0}, {"本", 0}} {
		if strings.HasPrefix(run, w.text) {
			return w.n, i + len(w.text)/len("上")
		}
	}
	return 0, i
}

// meansWeek reports whether the characters around leave a week a week, and a weekday
// one day.
func (f *finder) meansWeek(s span, pointed, named bool) bool {
	in := func(i int, set string) bool { c := f.han(i); return c != "" && strings.Contains(set, c) }
	if in(s.from-1, "每逢隔双单各几半整多全首末一二两三四五六七八九十数以如线之某个色周") || !pointed && f.sortOf(s.from-1) == number && f.tokens[s.from].glued {
		return false
	}
	if !pointed && (f.oneOf(s.to, "-", "–", "—", "~", "～") || f.oneOf(s.from-1, "-", "–", "—", "~", "～") || f.rangeHan(s)) {
		return false
	}
	m := f.clause(s.from, s.to)
	if m.recurring {
		return false
	}
	if !named {
		return s.phrase.unit == weekend || !in(s.to, "期边围转全年长到密刊知旋详折而遭岁身游济报末日程")
	}
	if _, more := f.weekdayHan(s.to); more || f.oneOf(s.to, "、") && f.isDigit(s.to+1) {
		return false // 周六日; 周一、三、五
	}
	// 周三次 is three times a week, 周一直 a week all along, 周日志 its log.
	if in(s.to, "次个名台件项遍轮种位篇条场例款十百千万亿") && f.run(s.to, 2) != "项目" ||
		f.han(s.to-1) == "一" && in(s.to, "直致样些定般共旦切边律体套鸣起") || f.han(s.to-1) == "日" && in(s.to, "程志报期历子均益记常元") {
		return false
	}
	return pointed || !m.forbidding
}

// rangeHan reports whether a weekday is an end of several: 周一到周五.
func (f *finder) rangeHan(s span) bool {
	joins := func(i int) bool { c := f.han(i); return c == "到" || c == "至" }
	if joins(s.to) {
		if c := f.run(s.to+1, 1); c == "周" || c == "星" || c == "礼" {
			return true
		}
	}
	if joins(s.from - 1) {
		if _, ok := f.weekdayHan(s.from - 2); ok {
			return true
		}
	}
	return false
}

// tenseHan is tense for a weekday in Chinese.
func (f *finder) tenseHan(s span) unit {
	m := f.clause(s.from, s.to)
	if f.oneOf(s.to, "，", ",") {
		m = f.moodAt(s.from)
	}
	switch {
	case m.past && m.future, f.moodAt(s.from).week, !m.past && f.inSchedule(s.from):
		return none
	case m.past:
		return behind
	}
	return ahead
}

func (f *finder) isDigit(i int) bool {
	c := f.han(i)
	return c != "" && strings.Contains("一二三四五六日", c)
}

func (f *finder) weekdayHan(i int) (time.Weekday, bool) {
	if f.joined(i) {
		switch f.han(i) {
		case "一":
			return time.Monday, true
		case "二":
			return time.Tuesday, true
		case "三":
			return time.Wednesday, true
		case "四":
			return time.Thursday, true
		case "五":
			return time.Friday, true
		case "六":
			return time.Saturday, true
		case "日", "天":
			return time.Sunday, true
		}
	}
	return 0, false
}

// countedHan are 三天后, 两个月前, 10 天后.
func (f *finder) countedHan(i int) span {
	n, at := f.countHan(i)
	if at == i {
		return span{}
	}
	s := span{from: i, phrase: phrase{n: n}}
	if f.run(at, 1) == "个" {
		at++
	}
	switch two := f.run(at, 2); {
	case two == "星期", two == "礼拜":
		s.phrase, at = phrase{unit: day, n: 7 * n}, at+2
	case strings.HasPrefix(two, "周"):
		s.phrase, at = phrase{unit: day, n: 7 * n}, at+1
	case strings.HasPrefix(two, "天"):
		s.phrase.unit, at = day, at+1
	case strings.HasPrefix(two, "月") && f.han(at-1) == "个":
		s.phrase.unit, at = month, at+1
	case strings.HasPrefix(two, "年"):
		s.phrase.unit, at = year, at+1
	default:
		return span{}
	}
	if c := f.run(at, 2); c == "之后" || c == "以后" || c == "之前" || c == "以前" {
		at++
	}
	switch f.run(at, 1) {
	case "后":
	case "前":
		s.phrase.n = -s.phrase.n
	default:
		return span{}
	}
	s.to = at + 1
	if !f.fromNow(s) {
		s.phrase = phrase{}
	}
	return s
}

// fromNow reports whether a counted time counts from the time of writing: 发布三天后
// counts from what stands before it.
func (f *finder) fromNow(s span) bool {
	const free = "在于将会要约们我他她它也再还是而但并且故则让请等划计定到"
	if c := f.han(s.from - 1); c != "" && f.tokens[s.from].glued && !strings.Contains(free, c) {
		return false
	}
	if f.sortOf(s.from-1) == word || f.oneOf(s.from-1, "-", "–", "~", "～", "、") {
		return false
	}
	if c := f.han(s.to); c != "" && strings.Contains("端台续方面来果退备缀代勤悔提往任沿景置所后前天", c) {
		return false
	}
	return !f.clause(s.from, s.to).recurring
}

// countHan is the number that begins at token i, and where it ends.
func (f *finder) countHan(i int) (n, to int) {
	if f.sortOf(i) == number {
		if n, ok := f.count(i); ok && f.han(i+1) != "" {
			return n, i + 1
		}
		return 0, i
	}
	const digits = "一二三四五六七八九"
	digit := func(c string) int {
		if c == "两" {
			return 2
		}
		if at := strings.Index(digits, c); at >= 0 && c != "" {
			return at/len("一") + 1
		}
		return 0
	}
	for to = i; to < i+3 && f.han(to) != "" && (to == i || f.joined(to)); to++ {
		c := f.han(to)
		switch d := digit(c); {
		case d > 0 && n%10 == 0:
			n += d
		case c == "十" && n < 10:
			n = max(n, 1) * 10
		default:
			return n, to
		}
	}
	return n, to
}
