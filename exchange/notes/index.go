package notes

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memd"
)

// Bounds of an index: an agent's whole prompt holds it, and neither alone bounds what
// it costs (seed 000).
const (
	MaxIndexLines = 200
	MaxIndexBytes = 25000
	maxHook       = 150 // code points of a description in it, and of a name
)

// Entry is one note in the index.
type Entry struct {
	Name        string
	Path        string // of its file, below the index
	Description string

	// By these the most valuable are chosen where not all fit. They are not written.
	Importance int
	UpdatedAt  memd.Time
}

// EntryOf is the entry of a note that states everything.
func EntryOf(n *Note, path string) Entry {
	return Entry{Name: n.Name, Path: path, Description: n.Description, Importance: n.Importance, UpdatedAt: n.UpdatedAt}
}

const heading = "# Memory"

// lesson begins the last line of an index that does not list everything.
const lesson = "> Not listed: "

func lessonFor(left int) string {
	return fmt.Sprintf("%s%d more notes in this folder. The index holds %d lines and %d bytes: merge notes that say the same, shorten descriptions, keep details in the notes, forget what no longer holds.",
		lesson, left, MaxIndexLines, MaxIndexBytes)
}

// RenderIndex writes the index of a folder. old is the index that stands there, "" for
// none: its lines that are no entries are a person's and stay, above the entries, as do
// entries that lead to what theirs says is no memory's file; it may be nil. Where
// not all entries fit, the most important are listed, of equal ones the newest, and the
// last line says what to do. Entries stand by importance, then path, so that an edit
// moves none of them. A person's lines that leave no room are a *Fault.
func RenderIndex(w io.Writer, old string, entries []Entry, theirs func(path string) bool) error {
	var kept []string
	for _, l := range lines(strings.TrimPrefix(old, bom)) {
		e, isEntry := readEntry(l.text)
		if isEntry && theirs != nil && theirs(e.Path) || !isEntry && !strings.HasPrefix(l.text, lesson) {
			kept = append(kept, strings.TrimRight(l.text, " \t"))
		}
	}
	for len(kept) > 0 && kept[len(kept)-1] == "" {
		kept = kept[:len(kept)-1]
	}
	if len(kept) == 0 {
		kept = []string{heading}
	}
	kept = append(kept, "")
	room, bytes := MaxIndexLines-len(kept), MaxIndexBytes-size(kept)
	if room < 2 || bytes < size([]string{lessonFor(len(entries))}) {
		return &Fault{File: IndexFile, Code: memd.CodeTooLarge, Reason: "what is written in the index by hand leaves no room for entries: move it into notes"}
	}
	listed, left := choose(entries, room, bytes)
	for _, e := range listed {
		kept = append(kept, e.line())
	}
	if left > 0 {
		kept = append(kept, lessonFor(left))
	}
	if kept[len(kept)-1] == "" {
		kept = kept[:len(kept)-1]
	}
	_, err := io.WriteString(w, strings.Join(kept, "\n")+"\n")
	return err
}

// size is what lines take in a file.
func size(ls []string) (n int) {
	for _, l := range ls {
		n += len(l) + 1
	}
	return n
}

// choose returns the entries that fit into so many lines and bytes, as they are listed,
// and how many do not.
func choose(entries []Entry, room, bytes int) ([]Entry, int) {
	best := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return cmp.Or(b.Importance-a.Importance, b.UpdatedAt.Compare(a.UpdatedAt.Time), strings.Compare(a.Path, b.Path))
	})
	fits := func(n int) bool {
		lines, used := n, 0
		for _, e := range best[:n] {
			used += len(e.line()) + 1
		}
		if left := len(best) - n; left > 0 {
			lines, used = lines+1, used+len(lessonFor(left))+1
		}
		return lines <= room && used <= bytes
	}
	n := min(len(best), room)
	for n > 0 && !fits(n) {
		n--
	}
	slices.SortFunc(best[:n], func(a, b Entry) int {
		return cmp.Or(b.Importance-a.Importance, strings.Compare(a.Path, b.Path))
	})
	return best[:n], len(best) - n
}

// ReadIndex returns the entries of an index in their order, names and descriptions as
// far as they were written. Lines of another form are passed over.
func ReadIndex(r io.Reader) ([]Entry, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, &Fault{File: IndexFile, Code: memd.CodeTooLarge, Reason: "the index is larger than memd reads one"}
	}
	entries := []Entry{}
	for _, l := range lines(strings.TrimPrefix(string(data), bom)) {
		if e, ok := readEntry(l.text); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// line is an entry as it is written.
func (e Entry) line() string {
	s := "- [" + inert.Replace(short(e.Name)) + "](" + target(e.Path) + ")"
	if hook := short(e.Description); hook != "" {
		s += " — " + hook
	}
	return s
}

var (
	inert     = strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`)
	entryForm = regexp.MustCompile(`^[-*] (?:\*\*)?\[((?:\\.|[^\\\]])*)\]\(([^()\s]+)\)(?:\*\*)?(?: \((?:user|feedback|project|reference)\))?(?:\s*(?:—|–|-|:)\s*(.*))?$`)
	undo      = regexp.MustCompile(`\\([\\\[\]])`)
)

// target is a path as the target of a link. Letters of all scripts stay as they are:
// people read the index.
func target(path string) string {
	var b strings.Builder
	for _, r := range path {
		if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/-_.~", r) || r >= utf8.RuneSelf && !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// readEntry reads one line, as memd or the programs of the seeds write it.
func readEntry(s string) (Entry, bool) {
	m := entryForm.FindStringSubmatch(strings.TrimRight(s, " \t"))
	if m == nil {
		return Entry{}, false
	}
	file, err := url.PathUnescape(m[2])
	if err != nil || !utf8.ValidString(file) || strings.Contains(file, ":") || !IsNote(file) {
		return Entry{}, false
	}
	return Entry{Name: undo.ReplaceAllString(m[1], "$1"), Path: file, Description: m[3]}, true
}

// short is a text as one line, cut to what an index has room for.
func short(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if utf8.RuneCountInString(s) <= maxHook {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:maxHook-1]), " ") + "…"
}
