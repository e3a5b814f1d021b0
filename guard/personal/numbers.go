package personal

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// issued reports whether an issuer gives out numbers with this prefix in this
// length.
func issued(digits string) bool {
	n := len(digits)
	prefix := func(k int) int {
		v, _ := strconv.Atoi(digits[:k])
		return v
	}
	in := func(v, low, high int) bool { return v >= low && v <= high }
	switch {
	case digits[0] == '4': // Visa
		return n == 13 || n == 16 || n == 19
	case in(prefix(2), 51, 55), in(prefix(4), 2221, 2720): // Mastercard
		return n == 16
	case prefix(2) == 34, prefix(2) == 37: // American Express
		return n == 15
	case in(prefix(4), 3528, 3589): // JCB
		return n >= 16
	case prefix(4) == 6011, prefix(2) == 65, in(prefix(3), 644, 649): // Discover
		return n >= 16
	case in(prefix(3), 300, 305), prefix(2) == 36, in(prefix(2), 38, 39): // Diners
		return n >= 14
	case prefix(2) == 62, prefix(2) == 81: // UnionPay
		return n >= 16
	case in(prefix(2), 50, 50), in(prefix(2), 56, 58), prefix(2) == 63, prefix(2) == 67: // Maestro
		return n >= 16
	}
	return false
}

func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func allAlike(digits string) bool { return strings.Trim(digits[1:], digits[:1]) == "" }

func mixedSeparators(n number) bool {
	return n.separators != "" && strings.Trim(n.separators, n.separators[:1]) != ""
}

// cardGroups reports whether digits are grouped as on a card.
func cardGroups(groups []int) bool {
	for _, form := range [][]int{{4, 4, 4, 4}, {4, 6, 5}, {4, 6, 4}, {4, 4, 4, 4, 3}, {6, 13}} {
		if slices.Equal(groups, form) {
			return true
		}
	}
	return false
}

// provinces are the first two digits of a resident identity number (GB/T 2260).
func provinces() []string {
	return strings.Fields("11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83")
}

// ids finds resident identity numbers of China (GB 11643): a region, a date of
// birth, and a check digit modulo 11.
func ids(text string) []Finding {
	var found []Finding
	for at := 0; at+18 <= len(text); at++ {
		end := at + 18
		value := text[at:end]
		if !isDigit(value[0]) || strings.Trim(value[:17], "0123456789") != "" || !isDigit(value[17]) && value[17] != 'X' && value[17] != 'x' {
			continue
		}
		if standsAlone(text, at, end) && slices.Contains(provinces(), value[:2]) && born(value[6:14]) && value[14:17] != "000" && idCheck(value) {
			found = append(found, Finding{ID, at, end, true})
			at = end - 1
		}
	}
	return found
}

// born reports whether eight digits are a day on which somebody who lives may be
// born. The number is given out at birth; a few years ahead are of no harm.
func born(date string) bool {
	day, err := time.Parse("20060102", date)
	return err == nil && day.Year() >= 1900 && day.Year() < 2100
}

func idCheck(value string) bool {
	sum, weight := 0, 1 // the weight of a place is 2 to the power of those behind it, modulo 11
	for i := 16; i >= 0; i-- {
		weight = weight * 2 % 11
		sum += int(value[i]-'0') * weight
	}
	return "10X98765432"[sum%11] == strings.ToUpper(value)[17]
}

// ibanLengths are the lengths that countries have registered (ISO 13616).
func ibanLengths() map[string]int {
	lengths := map[string]int{}
	for _, entry := range strings.Fields(`AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28
		EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21
		LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18
		SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`) {
		n, _ := strconv.Atoi(entry[2:])
		lengths[entry[:2]] = n
	}
	return lengths
}

// ibans finds account numbers: a country, two check digits modulo 97, and the
// length that the country has. They stand in one run or in groups of four.
func ibans(text string) []Finding {
	var found []Finding
	var lengths map[string]int // made where there is something to look up
	for at := 0; at+15 <= len(text); at++ {
		if !isUpper(text[at]) || !isUpper(text[at+1]) || !isDigit(text[at+2]) || !isDigit(text[at+3]) {
			continue
		}
		if lengths == nil {
			lengths = ibanLengths()
		}
		value, end := ibanAt(text, at, lengths[text[at:at+2]])
		if value != "" && standsAlone(text, at, end) && mod97(value) && !published(value, exampleIBANs) {
			found = append(found, Finding{IBAN, at, end, true})
			at = end - 1
		}
	}
	return found
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// ibanAt reads length characters from at on, in one run or in groups of four.
func ibanAt(text string, at, length int) (value string, end int) {
	var b strings.Builder
	spaced := at+4 < len(text) && text[at+4] == ' '
	for end = at; b.Len() < length && end < len(text); end++ {
		if spaced && b.Len()%4 == 0 && b.Len() > 0 && text[end] == ' ' {
			end++
		}
		if end >= len(text) || !isUpper(text[end]) && !isDigit(text[end]) {
			return "", 0
		}
		b.WriteByte(text[end])
	}
	if length == 0 || b.Len() < length {
		return "", 0
	}
	return b.String(), end
}

func mod97(iban string) bool {
	rest := 0
	for _, c := range []byte(iban[4:] + iban[:4]) {
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}
