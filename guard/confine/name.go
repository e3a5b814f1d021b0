package confine

import (
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Refused says why a name or a file is not opened. It never holds the name, nor a
// text of a file.
type Refused string

func (r Refused) Error() string { return string(r) }

// Reasons.
const (
	Outside    = Refused("no path inside the root")
	BadName    = Refused("a name that not every system takes for the same")
	TooLong    = Refused("the name is too long")
	Extension  = Refused("a file of a kind that is not opened here")
	NotRegular = Refused("no regular file")
	AFolder    = Refused("no regular file, but a folder")
	Linked     = Refused("the file has another name (a hard link)")
	Moved      = Refused("the file is replaced while it is read")
	Changed    = Refused("the file has changed since it was read")
	TooLarge   = Refused("larger than what is read of a file")
)

// Bounds of a name, in bytes: those of the file systems in use, with room for the
// folder's own path.
const (
	maxElement = 255
	maxName    = 2048
)

// Unescaped takes the percent escapes off a name, once. A name that still holds one
// for a character of a path, or a percent sign, was escaped twice, and is refused:
// the next program would take off the rest.
func Unescaped(name string) (string, error) {
	plain, err := url.PathUnescape(name)
	if err != nil || escaped.MatchString(plain) {
		return "", Outside
	}
	return plain, nil
}

// escaped is an escape of a character that a path is made of, or of another escape.
var escaped = regexp.MustCompile(`(?i)%(?:25|2e|2f|5c|00)`)

// Check holds a name against what may be opened by it: relative, with / between its
// elements, and the same to every system and after Unicode's compatible forms are
// taken together. An element . or .. is refused, also where it would stay inside.
func Check(name string) error {
	switch {
	case name == "" || !utf8.ValidString(name) || strings.ContainsAny(name, "\\\x00"):
		return Outside
	case len(name) > maxName:
		return TooLong
	case !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name || name == ".":
		return Outside
	}
	for element := range strings.SplitSeq(name, "/") {
		if err := checkElement(element); err != nil {
			return err
		}
	}
	return nil
}

func checkElement(element string) error {
	if len(element) > maxElement {
		return TooLong
	}
	if strings.ContainsFunc(element, func(r rune) bool { return !inName(r) }) {
		return BadName
	}
	compatible := norm.NFKC.String(element)
	if strings.ContainsAny(compatible, `/\`) && !strings.ContainsAny(element, `/\`) || strings.Trim(compatible, ". ") == "" {
		return Outside
	}
	if strings.TrimRight(compatible, ". ") != compatible || reserved(compatible) {
		return BadName
	}
	return nil
}

// inName reports whether r may stand in a name: what is seen, a space, and the
// joiners that some scripts and emoji need. What looks like a separator and is none
// may not.
func inName(r rune) bool {
	if strings.ContainsRune("⁄∕∖⧵⧸⧹", r) {
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Co) || r == '\u200C' || r == '\u200D'
}

// devices are names that Windows takes for devices in every folder; the ports' are
// followed by a digit.
var devices = []string{"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}

// reserved reports whether an element is the name of a device.
func reserved(element string) bool {
	name := strings.ToLower(strings.TrimRight(element, " ."))
	if slices.Contains(devices, name) {
		return true
	}
	port, isPort := strings.CutPrefix(name, "com")
	if !isPort {
		port, isPort = strings.CutPrefix(name, "lpt")
	}
	return isPort && len(port) == 1 && '0' <= port[0] && port[0] <= '9'
}

// CheckPortable is Check for a name that a file is to get: one that it can have on
// every system, so that the folder can move.
func CheckPortable(name string) error {
	if err := Check(name); err != nil {
		return err
	}
	if strings.ContainsAny(name, `<>:"|?*`) {
		return BadName
	}
	for element := range strings.SplitSeq(name, "/") {
		stem, _, _ := strings.Cut(norm.NFKC.String(element), ".")
		if reserved(stem) || element[0] == ' ' {
			return BadName
		}
	}
	return nil
}
