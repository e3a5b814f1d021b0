package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"memd"
	"memd/internal/atomicfile"
	"memd/internal/regular"
)

// file is a file of a data folder that its owner alone may open, and that people and
// several processes change. What is read of it is a T, the zero one while it cannot be
// read. Its holder sees to it that one goroutine uses it at a time.
type file[T any] struct {
	dir, name string
	limit     int64 // bytes
	needed    bool  // that there is none is an error
	parse     func(data []byte) (T, error)

	holds T
	fault error // why it could not be read, nil where it could
	at    stamp // what was seen of it when it was read
	young bool  // it may have changed since without a new stamp
}

func (f *file[T]) path() string { return filepath.Join(f.dir, f.name) }

// load reads the file.
func (f *file[T]) load(now time.Time) error {
	f.holds, f.fault = f.read(now)
	return f.fault
}

func (f *file[T]) read(now time.Time) (none T, err error) {
	data, at, err := readPrivate(f.path(), f.limit)
	f.at, f.young = at, now.Sub(at.mod) < settled
	if errors.Is(err, fs.ErrNotExist) && !f.needed {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	holds, err := f.parse(data)
	if err != nil {
		return none, err
	}
	return holds, nil
}

// refresh reads the file again where it changed since it was read, or may have. An
// error is returned once for each change; until the next one it stands in fault.
func (f *file[T]) refresh(now time.Time) error {
	changed := stampOf(f.path()) != f.at
	if !changed && !f.young {
		return nil
	}
	before := f.fault
	if err := f.load(now); changed || fmt.Sprint(err) != fmt.Sprint(before) {
		return err
	}
	return nil
}

// create writes the file where there is none, and reports whether it did.
func (f *file[T]) create(text func() string) (made bool, err error) {
	if _, err := os.Lstat(f.path()); err == nil {
		return false, nil
	}
	unlock, err := lock(f.dir)
	if err != nil {
		return false, err
	}
	defer unlock()
	if _, err := os.Lstat(f.path()); err == nil {
		return false, nil
	}
	return true, atomicfile.WriteFile(f.path(), []byte(text()), 0o600)
}

// rewrite changes a file of lines, alone among all processes while it does.
func rewrite[E any](f *file[[]E], now time.Time, edit func([]E) ([]E, error)) error {
	unlock, err := lock(f.dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := f.load(now); err != nil {
		return err
	}
	all, err := edit(f.holds)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(f.path(), format(all), 0o600); err != nil {
		return err
	}
	return f.load(now)
}

// format is the text of a file of lines: a JSON object a line.
func format[E any](all []E) []byte {
	var b bytes.Buffer
	for _, e := range all {
		line, err := json.Marshal(e)
		if err != nil {
			panic(err) // strings, lists of them and times always marshal
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// parseLines reads what format wrote. read is given each line and those before it; an
// error names the line, never what stands in it.
func parseLines[E any](data []byte, read func(line []byte, before []E) (E, error)) ([]E, error) {
	var all []E
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e, err := read(line, all)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		all = append(all, e)
	}
	return all, nil
}

// readObject reads a line that is one JSON object of known names.
func readObject(line []byte, into any) bool {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	return dec.Decode(into) == nil && !dec.More()
}

// readPrivate reads a file of at most limit bytes that only its owner may
// open, and the stamp of what it read.
func readPrivate(path string, limit int64) ([]byte, stamp, error) {
	f, err := regular.Open(path)
	if errors.Is(err, regular.ErrOther) {
		return nil, stampOf(path), memd.Errorf(memd.CodeStoreFailed, "%s is no regular file", path).
			WithHint("move it away; memd waits for no pipe, socket or device")
	}
	if err != nil {
		return nil, stampOf(path), err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, stamp{}, err
	}
	at := stampFrom(info)
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return nil, at, memd.Errorf(memd.CodeStoreFailed, "%s is open to others than its owner (mode %04o)", path, perm).
			WithHint("chmod 600 %s, and change its tokens if others may have read it", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = memd.Errorf(memd.CodeStoreFailed, "%s has more than %d bytes", path, limit)
	}
	return data, at, err
}

// stamp tells one state of a file from another. The zero stamp is that of a
// file that is not there.
type stamp struct {
	mod   time.Time
	size  int64
	inode uint64
	mode  fs.FileMode
}

// settled is how old a file must be for its stamp to tell that it is the same:
// a second change within one tick of a file system's clock shows no new time,
// and the coarsest clocks tick every two seconds.
const settled = 2 * time.Second

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stampFrom(info)
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{mod: info.ModTime(), size: info.Size(), inode: inode(info), mode: info.Mode()}
}
