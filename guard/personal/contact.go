package personal

import (
	"slices"
	"strings"
	"unicode"
)

// emails finds e-mail addresses. Hosts that are set apart for examples (RFC
// 2606, of every example domain) and addresses of machines, such as git@host and
// where ssh logs in to, are nobody's.
func emails(text string) []Finding {
	var found []Finding
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			return found
		}
		sign := at + i
		at = sign + 1
		start, end := sign, sign+1
		for start > 0 && inLocalPart(text[start-1]) {
			start--
		}
		for end < len(text) && (isAlnum(text[end]) || text[end] == '.' || text[end] == '-') {
			end++
		}
		for start < sign && !isAlnum(text[start]) {
			start++
		}
		end = sign + len(strings.TrimRight(text[sign:end], ".-"))
		if !isAddress(text[start:sign], text[min(sign+1, end):end]) || inAddress(text, start, end) || remote(text, start, end) {
			continue
		}
		found = append(found, Finding{Email, start, end, true})
		at = end
	}
}

func inLocalPart(c byte) bool { return isAlnum(c) || strings.IndexByte("._%+-", c) >= 0 }

func isAddress(local, host string) bool {
	dot := strings.LastIndexByte(host, '.')
	if local == "" || len(local) > 64 || strings.HasSuffix(local, ".") || dot <= 0 || strings.Contains(host, "..") {
		return false
	}
	top := strings.ToLower(host[dot+1:])
	if len(top) < 2 || strings.Trim(top, "abcdefghijklmnopqrstuvwxyz") != "" {
		return false // also what looks like pkg@v1.2.3
	}
	host = strings.ToLower(host)
	if slices.Contains([]string{"example", "test", "invalid", "localhost", "local", "internal", "js", "ts", "go", "py", "png", "jpg", "service", "target", "timer"}, top) {
		return false
	}
	if host == "users.noreply.github.com" || slices.ContainsFunc(strings.Split(host, "."), stands) {
		return false
	}
	return !slices.Contains([]string{"git", "noreply", "no-reply", "hg", "svn", "user", "root"}, strings.ToLower(local))
}

// stands reports whether a part of a host stands for one that is to be put there.
func stands(label string) bool {
	return slices.Contains([]string{"example", "yourdomain", "your-domain", "yourcompany", "your-company"}, label)
}

// inAddress reports whether the sign belongs to a URL, whose user it names, or
// to the address of a repository (user@host:path).
func inAddress(text string, start, end int) bool {
	before := text[max(0, start-maxLook):start]
	if i := strings.LastIndexAny(before, " \t\n<>(\"'"); i >= 0 {
		before = before[i+1:]
	}
	if strings.Contains(before, "://") || strings.HasSuffix(before, "/") || strings.HasSuffix(before, "@") {
		return true
	}
	return end+1 < len(text) && text[end] == ':' && (isAlnum(text[end+1]) || text[end+1] == '/' || text[end+1] == '~') || end < len(text) && text[end] == '/'
}

// phones finds telephone numbers: mobile ones of China, those with a plus and
// the code of a country, and those in groups where a word near them says what
// they are.
func phones(text string) []Finding {
	var found []Finding
	for _, n := range numbers(text, " -.()", 7) {
		start, end := n.start, n.end
		plus := start > 0 && text[start-1] == '+' && (start < 2 || !isAlnum(text[start-2]))
		if plus {
			start--
		}
		if !standsAlone(text, start, end) || n.dotted() && !plus {
			continue
		}
		named := near(text, start, end, phoneWords()...)
		other := near(text, start, end, "id", "order", "ticket", "build", "issue", "port", "version", "timestamp", "单号", "订单", "编号", "工单", "流水")
		switch {
		case plus && international(n.digits):
			found = append(found, Finding{Phone, start, end, true})
		case chineseMobile(n):
			found = append(found, Finding{Phone, start, end, named || !other && (len(n.groups) == 3 || chineseBefore(text, start))})
		case named && !other && national(n):
			found = append(found, Finding{Phone, opened(text, start), end, true})
		}
	}
	return append(found, bracketed(text)...)
}

func phoneWords() []string {
	return []string{"tel", "phone", "phones", "mobile", "cell", "call", "fax", "whatsapp", "contact", "sms", "电话", "手机", "联系", "致电", "拨打", "座机", "传真", "热线", "微信"}
}

// chineseBefore reports whether a Chinese sentence leads up to start.
func chineseBefore(text string, start int) bool {
	return strings.ContainsFunc(text[max(0, start-24):start], func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// dotted reports whether the parts of n are those of a version or an address of
// a machine.
func (n number) dotted() bool { return strings.Contains(n.separators, ".") && len(n.groups) != 3 }

// opened is where a number begins whose area code stands in brackets.
func opened(text string, start int) int {
	if start > 0 && text[start-1] == '(' {
		return start - 1
	}
	return start
}

// international reports whether digits may follow a plus (E.164): seven to
// fifteen, and no country's code begins with 0.
func international(digits string) bool {
	return len(digits) >= 8 && len(digits) <= 15 && digits[0] != '0' && !allAlike(digits)
}

// chineseMobile reports whether n is a mobile number of China: eleven digits
// from 13 to 19, in one run or as 3-4-4, or with 86 before them.
func chineseMobile(n number) bool {
	digits := n.digits
	if len(digits) == 13 && strings.HasPrefix(digits, "86") {
		digits = digits[2:]
	} else if !slices.Equal(n.groups, []int{11}) && !slices.Equal(n.groups, []int{3, 4, 4}) {
		return false
	}
	return len(digits) == 11 && digits[0] == '1' && digits[1] >= '3' && !allAlike(digits[1:])
}

// national reports whether n is written as people write numbers of their own
// country: an area code and one or two groups, and no date.
func national(n number) bool {
	length := len(n.digits)
	if length < 7 || length > 12 || isDate(n) || allAlike(n.digits) {
		return false
	}
	if len(n.groups) == 1 {
		return n.digits[0] == '0' && length >= 9 || length == 10 || length == 8 || length == 7 || length == 11
	}
	last := n.groups[len(n.groups)-1]
	return n.groups[0] >= 2 && n.groups[0] <= 5 && last >= 2 && last <= 8
}

// isDate reports whether n is a day, with or without a time.
func isDate(n number) bool {
	if n.groups[0] == 4 && len(n.groups) >= 3 && n.groups[1] <= 2 && n.groups[2] <= 2 {
		return true
	}
	if len(n.groups) == 1 && len(n.digits) == 8 && (strings.HasPrefix(n.digits, "19") || strings.HasPrefix(n.digits, "20")) {
		return n.digits[4:6] <= "12" && n.digits[6:] <= "31"
	}
	return len(n.groups) == 3 && n.groups[0] <= 2 && n.groups[1] <= 2
}

// bracketed finds "(010) 1234-5678" and "(555) 010-9999": an area code in
// brackets, and a number in one or two groups behind it.
func bracketed(text string) []Finding {
	var found []Finding
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '(')
		if i < 0 {
			return found
		}
		start := at + i
		at = start + 1
		close := strings.IndexByte(text[at:min(len(text), at+6)], ')')
		if close < 2 || strings.Trim(text[at:at+close], "0123456789") != "" || start > 0 && (isAlnum(text[start-1]) || text[start-1] == ']') {
			continue
		}
		rest := at + close + 1
		for rest < len(text) && text[rest] == ' ' && rest < at+close+2 {
			rest++
		}
		after := numbers(text[rest:min(len(text), rest+16)], "- ", 5)
		if len(after) == 0 || after[0].start != 0 || len(after[0].digits) > 8 || !standsAlone(text, start, rest+after[0].end) {
			continue
		}
		if len(after[0].digits) < 7 && !near(text, start, rest+after[0].end, phoneWords()...) {
			continue // a short one, as of small towns
		}
		found = append(found, Finding{Phone, start, rest + after[0].end, true})
		at = rest + after[0].end
	}
}
