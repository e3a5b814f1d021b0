package api

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"memd"
)

// plainName is what an unknown name may look like to be repeated: letters of one case
// alone. Keys and tokens look otherwise; a name may be anything, a secret included.
var plainName = regexp.MustCompile(`^[a-z]+(_[a-z]+){0,3}$`)

// maxPlainName bounds such a name, in bytes.
const maxPlainName = 24

// unknown refuses a name that is none of those that a call knows. It is repeated
// where it is a plain word or a slip of the hand for a known
// name, of which the hint then tells.
func unknown(name, what string, known []string) error {
	near := nearest(name, known)
	e := memd.Errorf(memd.CodeInvalidRequest, "the request has a %s that this call does not know", what)
	if near != "" || isPlain(name) {
		e = memd.FieldErrorf(memd.CodeInvalidRequest, name, "%s is no %s of this call", name, what)
	}
	if len(known) == 0 {
		return e.WithHint("this call takes none")
	}
	hint := "it knows " + strings.Join(known, ", ")
	if near != "" {
		hint = "is " + near + " meant? " + hint
	}
	return e.WithHint("%s", hint)
}

func isPlain(name string) bool { return len(name) <= maxPlainName && plainName.MatchString(name) }

// repeated refuses a name that stands twice in an object.
func repeated(name string, known map[string]int) error {
	if _, ok := known[name]; !ok && !isPlain(name) {
		return memd.Errorf(memd.CodeInvalidRequest, "the body has a field twice")
	}
	return memd.FieldErrorf(memd.CodeInvalidRequest, name, "%s stands twice in the body", name)
}

// namesOf are the names of fields in order.
func namesOf(places map[string]int) []string { return slices.Sorted(maps.Keys(places)) }

// nearest is the known name that a misspelt one stands for, "" where none is near:
// in other case, or with one letter in three wrong, at most two.
func nearest(name string, known []string) (near string) {
	least := 3
	for _, k := range known {
		d := distance(strings.ToLower(name), k, min(2, len(k)/3))
		if d < least {
			near, least = k, d
		}
	}
	return near
}

// distance is how many bytes must be put in, taken out or changed to make b of a
// (Levenshtein). Beyond most it is some larger number.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return len(a) + len(b) + 3
	}
	row := make([]int, len(b)+1) // from what was seen of a to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := before
			if a[i] != b[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, before+1, row[j]+1)
		}
	}
	if d := row[len(b)]; d <= most {
		return d
	}
	return len(a) + len(b) + 3
}
