package secrets

import (
	"slices"
	"strings"

	"memd/guard/reading"
)

// Bounds of the tables that are looked at. They keep what is read by columns
// within three times the length of the table.
const (
	maxColumns = 32
	maxNamed   = 4  // columns that announce a secret
	maxWords   = 4  // columns that one space parts
	maxCell    = 40 // bytes in a cell of the header
	minCell    = 6  // bytes in a cell that may be a secret
)

// What parts columns where no sign does: two spaces or more, or one.
const (
	spaces   = 's'
	oneSpace = 'o'
)

// cells are the tables of v whose header names a password or a key, read by
// columns: each cell below such a name stands behind it, as "name: cell". It is
// false without any.
func (v view) cells() (view, bool) {
	b := reading.Builder{Of: v.Text}
	var header []span // of its columns
	var between byte
	var named []int // the columns that announce a secret
	users := false  // whether another column is one of users, so that any word may be a password
	for start := 0; start < len(v.S); {
		end := len(v.S)
		if i := strings.IndexByte(v.S[start:], '\n'); i >= 0 {
			end = start + i
		}
		columns, sign := split(v.S, start, end, between)
		switch {
		case len(named) > 0 && sign == between && len(columns) == len(header):
			for _, i := range named {
				if columns[i].end-columns[i].start < minCell {
					continue
				}
				b.Put(announcing(v.S[header[i].start:header[i].end], between), header[i].start, header[i].end)
				b.Keep(columns[i].start, columns[i].end)
				rest := " ~\n" // the row goes on
				if users {
					rest = "\n"
				}
				b.Put(rest, header[i].start, header[i].end)
			}
		case len(named) > 0 && strings.Trim(v.S[start:end], "-+|:= \t\r") == "" && start < end: // a rule of the table
		default:
			columns, sign = split(v.S, start, end, 0)
			header, between, named, users = columns, sign, nil, false
			if sign == oneSpace && len(columns) > maxWords {
				columns = nil
			}
			for i, c := range columns {
				if len(columns) > 1 && len(named) < maxNamed && namesSecret(v.S[c.start:c.end]) {
					named = append(named, i)
				}
			}
			users = len(named) > 0 && sign != oneSpace && slices.ContainsFunc(columns, func(c span) bool { return namesUser(v.S[c.start:c.end]) })
		}
		start = end + 1
	}
	return view{b.Text()}, b.Len() > 0
}

// announcing is what stands for the name of a column before a cell.
func announcing(name string, between byte) string {
	name = strings.ToLower(name)
	sign := ": "
	if between == oneSpace {
		sign = " " // which may be prose
	}
	for _, w := range passwordWords() {
		if strings.Contains(name, w) || name == "pass" {
			return "password" + sign
		}
	}
	return "api token" + sign
}

// namesSecret reports whether a cell of a header is the name of passwords or
// keys.
func namesSecret(cell string) bool {
	if len(cell) > maxCell {
		return false
	}
	cell = strings.ToLower(strings.Trim(cell, "*_`\" "))
	for _, w := range append(passwordWords(), "secret", "token", "api key", "api_key", "apikey", "pass", "密钥", "令牌", "密码") {
		if cell == w || len(w) > 4 && (strings.HasSuffix(cell, w) || strings.HasPrefix(cell, w)) {
			return true
		}
	}
	return false
}

// namesUser reports whether a cell of a header is the name of users.
func namesUser(cell string) bool {
	cell = strings.ToLower(strings.Trim(cell, "*_`\" "))
	return slices.Contains([]string{"user", "username", "user name", "login", "account", "email", "e-mail", "benutzer", "utilisateur", "usuario", "用户", "用户名", "账号", "帐号", "账户", "登录名", "ユーザー", "ユーザー名"}, cell)
}

// split finds the columns of a line and what parts them: a bar, a comma, a
// semicolon, a tab, or else spaces (two where the line has as many, or one). With a sign given it is that.
func split(text string, start, end int, by byte) (columns []span, sign byte) {
	line := text[start:end]
	sign = by
	if sign == 0 {
		sign = oneSpace
		for _, s := range []byte("|\t,;") {
			if strings.IndexByte(line, s) >= 0 {
				sign = s
				break
			}
		}
		if sign == oneSpace && strings.Contains(strings.TrimSpace(line), "  ") {
			sign = spaces
		}
	}
	for at := 0; at <= len(line) && len(columns) < maxColumns; {
		n, width := len(line)-at, 1
		switch sign {
		case spaces:
			if i := strings.Index(line[at:], "  "); i >= 0 {
				n = i
				width = len(line) - at - i - len(strings.TrimLeft(line[at+i:], " "))
			}
		case oneSpace:
			if i := strings.IndexByte(line[at:], ' '); i >= 0 {
				n = i
			}
		default:
			if i := strings.IndexByte(line[at:], sign); i >= 0 {
				n = i
			}
		}
		cell := line[at : at+n]
		left := len(cell) - len(strings.TrimLeft(cell, " \t\r\"*`"))
		right := len(strings.TrimRight(cell, " \t\r\"*`"))
		if left < right || sign != spaces && sign != oneSpace {
			columns = append(columns, span{start + at + min(left, right), start + at + right})
		}
		at += n + width
	}
	return columns, sign
}
