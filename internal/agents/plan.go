package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"memd"
	"memd/internal/atomicfile"
)

// maxFileBytes bounds a client's file; Claude Code keeps more than servers in its own.
const maxFileBytes = 32 << 20

// bom is the byte order mark that some editors of Windows put before a text.
const bom = "\uFEFF"

// Plan is a change of one client's file that was not made yet.
type Plan struct {
	File string // as the client knows it

	real     string // File without links
	old, new []byte
	isNew    bool // there is no such file yet
	has      bool // memd has an entry in it
	mode     fs.FileMode
}

// Snippet is what the client's file holds of memd alone.
func (c Client) Snippet(s Server) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	text, err := c.edit(nil, s)
	return string(text), err
}

// edit is old with memd among the servers.
func (c Client) edit(old []byte, s Server) ([]byte, error) {
	if c.entry == nil {
		return editTOML(old, c.key, plain(s))
	}
	return editJSON(old, c.key, c.entry(s))
}

// Plan reads the client's file of a scope and works out what it is to hold. A file
// of a project must lie in it: what a checkout brings along may lead anywhere.
func (c Client) Plan(m Machine, scope Scope, s Server) (*Plan, error) {
	file, err := c.File(m, scope)
	if err != nil {
		return nil, err
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &Plan{File: file, mode: 0o600}
	if scope == ScopeProject {
		p.mode = 0o644
	}
	if err := p.locate(scope, m.Project); err != nil {
		return nil, err
	}
	if p.isNew && scope == ScopeUser {
		// Or the client could not read what `sudo memd setup` made.
		if home, err := os.Stat(m.Home); err == nil && anothers(home) {
			return nil, refused(file, "the home folder belongs to another user")
		}
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	body, marked := bytes.CutPrefix(p.old, []byte(bom))
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return nil, refused(file, "it is not in UTF-8")
	}
	if tooDeep(body) {
		return nil, refused(file, "it is nested too deeply")
	}
	edited, err := c.edit(body, s)
	if err != nil {
		return nil, explained(file, err)
	}
	if p.new = edited; marked {
		p.new = append([]byte(bom), edited...)
	}
	p.has = c.has(body)
	return p, nil
}

// locate follows links to the file that is to be written.
func (p *Plan) locate(scope Scope, project string) error {
	var err error
	if _, missing := os.Lstat(p.File); errors.Is(missing, fs.ErrNotExist) {
		p.real, p.isNew = settled(p.File), true
	} else if p.real, err = filepath.EvalSymlinks(p.File); err != nil {
		return refused(p.File, "it is a link that leads nowhere, or cannot be followed")
	}
	if scope != ScopeProject {
		return nil
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return err
	}
	if rel, err := filepath.Rel(project, p.real); err != nil || !filepath.IsLocal(rel) {
		return refused(p.File, "a link in the project leads out of it")
	}
	return nil
}

// settled is a path whose folders have no links, as far as they exist.
func settled(path string) string {
	dir := filepath.Dir(path)
	if real, err := filepath.EvalSymlinks(dir); err == nil || dir == path {
		return filepath.Join(real, filepath.Base(path))
	}
	return filepath.Join(settled(dir), filepath.Base(path))
}

func (p *Plan) read() error {
	if p.isNew {
		return nil
	}
	info, err := os.Stat(p.real)
	if err != nil {
		return fmt.Errorf("the client's file: %w", err)
	}
	switch {
	case !info.Mode().IsRegular():
		return refused(p.File, "it is no regular file")
	case anothers(info): // the new one would be ours
		return refused(p.File, "it belongs to another user")
	case info.Size() > maxFileBytes:
		return refused(p.File, fmt.Sprintf("it passes %d bytes", maxFileBytes))
	case info.Mode().Perm()&0o200 == 0:
		return refused(p.File, fmt.Sprintf("its owner may not write it (mode %04o)", info.Mode().Perm()))
	}
	p.mode = info.Mode().Perm()
	p.old, err = readAll(p.real)
	return err
}

func readAll(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the client's file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("the client's file: %w", err)
	}
	return data, nil
}

// tooDeep reports whether text may be nested deeper than parsers that call themselves
// can bear. It takes brackets in strings for nesting too.
func tooDeep(text []byte) bool {
	depth := 0
	for _, b := range text {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > 100_000 {
			return true
		}
	}
	return false
}

// has reports whether a well-formed text has an entry of memd's.
func (c Client) has(text []byte) bool {
	if c.entry == nil {
		root, err := decodeTOML(text)
		return err == nil && valueAt(root, append(c.key, Name)) != nil
	}
	root, err := decodeJSON(text)
	return err == nil && valueAt(root, entryPath(root, c.key)) != nil
}

// Changes reports whether there is something to write.
func (p *Plan) Changes() bool { return p.isNew || !bytes.Equal(p.old, p.new) }

// Replaces reports whether the file has another entry of memd's than is meant.
func (p *Plan) Replaces() bool { return p.has && p.Changes() }

// Write makes the change, if there is one, and returns the path of the copy that it
// made of the file as it was, "" where there was none. The file is wholly old or
// wholly new at every moment.
func (p *Plan) Write(now time.Time) (backup string, err error) {
	if !p.Changes() {
		return "", nil
	}
	if p.isNew {
		if err := os.MkdirAll(filepath.Dir(p.real), 0o755); err != nil {
			return "", fmt.Errorf("the client's folder: %w", err)
		}
	}
	if err := p.unmoved(); err != nil {
		return "", err
	}
	if !p.isNew {
		if backup, err = p.keep(now); err != nil {
			return "", err
		}
	}
	if err := atomicfile.WriteFile(p.real, p.new, p.mode); err != nil {
		if backup != "" && p.unmoved() == nil {
			_ = os.Remove(backup) // of a change that was not made
		}
		return "", err
	}
	return backup, nil
}

// unmoved refuses to go over what another program has written since the file was read.
func (p *Plan) unmoved() error {
	now, err := readAll(p.real)
	if p.isNew && errors.Is(err, fs.ErrNotExist) || err == nil && !p.isNew && bytes.Equal(now, p.old) {
		return nil
	}
	return memd.Errorf(memd.CodeVersionConflict, "%s has changed since memd read it", p.File).WithHint("end the client and run this again")
}

// keep copies the file as it was beside it.
func (p *Plan) keep(now time.Time) (string, error) {
	base := p.real + ".memd-" + now.UTC().Format("20060102T150405Z")
	path := base + ".bak"
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path, atomicfile.WriteFile(path, p.old, p.mode)
		} else if err != nil {
			return "", fmt.Errorf("the copy of %s: %w", p.File, err)
		}
		path = fmt.Sprintf("%s-%d.bak", base, n)
	}
}

// exists reports whether something stands at path, a link to nothing too.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// refused is the error for a file that memd does not write.
func refused(file, why string) *memd.Error {
	return memd.Errorf(memd.CodeInvalidRequest, "%s: %s; it was left as it is", file, why).
		WithHint("mend it, or put memd in by hand: memd setup --print shows what goes there")
}

// explained says of a text that was not edited where the fault is.
func explained(file string, err error) error {
	if bad, ok := errors.AsType[*lineError](err); ok && bad.line > 0 {
		return refused(fmt.Sprintf("%s:%d", file, bad.line), bad.what)
	}
	return refused(file, strings.TrimSuffix(err.Error(), "."))
}
