package folder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"memd"
	"memd/exchange/notes"
)

// task is one memory with its file, of which one may be missing.
type task struct {
	id   ident
	name string // of the file, be it one that is to be made
	file *file
	row  *memd.Memory
	gone memd.Gone // the zero one for none
	last string    // Digest of what both said, where that is known, else ""

	noted *notes.Note // the row's note, once it was asked for; see says

	done Entry       // what became of it
	note *notes.Note // what the store says in the end, for the index; nil for nothing
}

// holds gives a task its row, nil for none.
func (t *task) holds(row *memd.Memory) { t.row, t.noted = row, nil }

// says is the note of the task's row, nil for none. Its SyncHash is its Digest.
func (t *task) says() *notes.Note {
	if t.noted == nil && t.row != nil {
		t.noted = notes.FromMemory(*t.row, nil)
	}
	return t.noted
}

// plan pairs files and rows. What is no note, or the second note of a memory, is
// refused.
func (j *job) plan() []*task {
	taken := j.taken()
	broken := j.refuseBroken()
	byID := map[ident]*task{}
	var tasks []*task
	for _, f := range j.byPlace() {
		id := identOf(f.note)
		if first := byID[id]; first != nil {
			j.refuseSecond(f, first.file)
			continue
		}
		t := &task{id: id, name: f.name, file: f, gone: j.gone[id]}
		if m, ok := j.rows[id]; ok && j.reads(f, m.Access) {
			t.row = &m
		}
		byID[id] = t
		tasks = append(tasks, t)
	}
	if !j.direction.files || j.Only != nil {
		return tasks
	}
	named := memd.Caller{Access: j.Access}
	var without []*task
	for id, m := range j.rows {
		if byID[id] == nil && (j.Namespace == "" || id.namespace == j.Namespace) && named.Holds(m.Access) && !broken(id, m.Source) {
			without = append(without, &task{id: id, row: &m})
		}
	}
	slices.SortFunc(without, func(a, b *task) int {
		return cmp.Or(strings.Compare(a.id.namespace, b.id.namespace), strings.Compare(a.id.key, b.id.key))
	})
	for _, t := range without {
		if j.name(t, taken) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// taken are the files by the names that a system has for them which tells them least.
func (j *job) taken() map[string]*file {
	taken := map[string]*file{}
	for _, f := range j.files {
		if other := taken[folded(f.name)]; other != nil {
			f.warning = "its name is told from that of " + shown(other.name) + " by case or form of its letters alone: not every system can keep both"
			continue
		}
		taken[folded(f.name)] = f
	}
	return taken
}

// refuseBroken refuses what is no note. It returns whether a row seems to be that of such
// a file, which its source names, or which states its key: it gets no second one.
func (j *job) refuseBroken() (isOf func(id ident, source string) bool) {
	var claims []notes.Claim
	named := map[ident]bool{} // by namespace and source
	namespaces := j.namespaces()
	for _, f := range j.files {
		if f.fault == nil {
			continue
		}
		j.report.Files = append(j.report.Files, f.entry().refuse(f.fault))
		if !f.claim.IsZero() {
			claims = append(claims, f.claim)
		}
		for _, namespace := range namespaces {
			named[ident{namespace, j.names.place(namespace, f.name).Source}] = true
		}
	}
	return func(id ident, source string) bool {
		return named[ident{id.namespace, source}] ||
			slices.ContainsFunc(claims, func(c notes.Claim) bool { return c.Of(id.namespace, id.key) })
	}
}

// namespaces are those of the rows.
func (j *job) namespaces() []string {
	var all []string
	for id := range j.rows {
		all = append(all, id.namespace)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byPlace are the notes of the run, those first that their rows rest on: of two files of
// one memory the copy is the other one.
func (j *job) byPlace() []*file {
	var all []*file
	for _, f := range j.files {
		switch {
		case f.fault != nil:
		case j.Namespace == "" || j.direction.rows || f.note.Namespace == j.Namespace:
			all = append(all, f)
		default: // no memory that was asked for; it stays in the index
			if m, ok := j.rows[identOf(f.note)]; ok {
				j.list(notes.FromMemory(m, nil), f.name)
			}
		}
	}
	rank := func(f *file) int {
		m, ok := j.rows[identOf(f.note)]
		if ok && m.Source == f.note.Source {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *file) int { return rank(a) - rank(b) })
	return all
}

func (j *job) refuseSecond(f, first *file) {
	e := f.entry().refuse(memd.FieldErrorf(memd.CodeVersionConflict, "memory_key", "%s is a note of the same memory: give one of them another name or memory_key", shown(first.name)))
	j.report.Files = append(j.report.Files, e)
}

// name gives a row without a file its own, which no other file has on any system. It
// reports whether there is one.
func (j *job) name(t *task, taken map[string]*file) bool {
	note := t.says()
	first := notes.Path(j.names.home(), note)
	other := taken[folded(first)]
	if other == nil {
		t.name = first
	} else if other.fault == nil { // a note of another memory that a person has called so
		sum := sha256.Sum256([]byte(t.id.namespace + "\x00" + t.id.key))
		t.name = strings.TrimSuffix(first, path.Ext(first)) + "-" + hex.EncodeToString(sum[:8]) + path.Ext(first)
		if taken[folded(t.name)] != nil {
			t.name = ""
		}
	}
	if t.name == "" { // its file cannot be read, and is reported; or both its names are taken
		return false
	}
	taken[folded(t.name)] = &file{name: t.name, note: note}
	return true
}

// folded is a name as a system has it that tells neither case nor the forms of a letter.
func folded(name string) string { return cases.Fold().String(norm.NFKC.String(name)) }
