package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"memd"
	"memd/internal/regular"
)

// maxFileBytes bounds a configuration file, and with it the mistake of naming
// a log or a database: the default file with all its comments is below a tenth of it.
const maxFileBytes = 64 << 10

// loadFile finds, reads and applies the configuration file, and returns its
// path. named is the --config flag.
func (l *loader) loadFile(named string) (string, error) {
	path := named
	if path == "" {
		path = l.env[configVariable]
	}
	optional := path == ""
	if optional {
		if path = l.defaultFile(); path == "" {
			return "", nil
		}
	}
	data, err := readFile(path, optional)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return path, l.applyFile(path, data)
}

// readFile reads a configuration file that only its owner can change: who may
// write it chooses the data folder and what guards the listener. One that somebody named
// may be a pipe, such as a shell's <(COMMAND); one that is only looked for may not.
func readFile(path string, lookedFor bool) ([]byte, error) {
	unreadable := func(err error) error {
		return &memd.Error{
			Code:    memd.CodeInvalidRequest,
			Message: path + ": the configuration file cannot be read",
			Hint:    "name another with --config or MEMD_CONFIG, or leave both out",
			Err:     err,
		}
	}
	open := os.Open
	if lookedFor {
		open = regular.Open
	}
	f, err := open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	// A pipe or /dev/null is no file that someone could have left writable.
	if perm := info.Mode().Perm(); info.Mode().IsRegular() && perm&0o022 != 0 {
		return nil, memd.Errorf(memd.CodeInvalidRequest,
			"%s: the configuration file may be changed by others (mode %04o)", path, perm).
			WithHint("chmod go-w %s", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(data) > maxFileBytes {
		return nil, memd.Errorf(memd.CodeInvalidRequest,
			"%s: the configuration file passes %d bytes", path, maxFileBytes)
	}
	return data, nil
}

// yamlFile is a configuration file being applied.
type yamlFile struct {
	*loader
	path string
	base string // its folder: relative paths in it start there
}

// applyFile applies the text of a configuration file. path names it in errors.
func (l *loader) applyFile(path string, data []byte) error {
	base, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	y := yamlFile{loader: l, path: path, base: base}
	body, err := y.parse(strings.TrimPrefix(string(data), "\ufeff"))
	if err != nil {
		return err
	}
	return y.section("", body, y.at(1))
}

func (y yamlFile) at(line int) origin {
	return origin{
		label: fmt.Sprintf("%s:%d", filepath.Base(y.path), line),
		where: fmt.Sprintf("%s:%d", y.path, line),
		base:  y.base,
	}
}

// parse reads the one document of a file; nil stands for an empty one.
func (y yamlFile) parse(text string) (body ast.Node, err error) {
	if !utf8.ValidString(text) {
		valid := strings.ToValidUTF8(text, "\x00")
		line := 1 + strings.Count(valid[:strings.IndexByte(valid, 0)], "\n")
		return nil, y.refuse("", y.at(line), "the text is not UTF-8")
	}
	// The parser is foreign code fed with a foreign text: should it panic,
	// the text is at fault as far as the operator is concerned.
	defer func() {
		if r := recover(); r != nil {
			body, err = nil, y.refuse("", y.at(1), "the text is no YAML that can be read")
		}
	}()
	// Duplicate keys are found later, where their full name is known.
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, message := 1, "the text is not YAML"
		if bad, ok := errors.AsType[yaml.Error](err); ok {
			message = bad.GetMessage()
			line = lineOf(bad.GetToken())
		}
		return nil, y.refuse("", y.at(line), message)
	}
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.CommentGroupNode:
			continue
		}
		if body != nil {
			return nil, y.refuse("", y.at(lineOf(doc.Body.GetToken())), "a second document in the file")
		}
		body = doc.Body
	}
	return body, nil
}

// section applies the keys of a mapping; prefix is "" or ends in a dot. A
// mapping left empty says nothing, as when all its keys are commented out.
func (y yamlFile) section(prefix string, node ast.Node, at origin) error {
	return y.each(prefix, node, at, func(key string, value ast.Node, at origin) error {
		f, isField := y.field(key)
		switch {
		case isField && f.isMap():
			return y.applyMap(f, value, at)
		case isField && f.isList():
			return y.applyList(f, value, at)
		case isField:
			text, err := scalar(value)
			if err != nil {
				return y.refuse(key, at, err.Error())
			}
			return y.set(f, text, at)
		case y.isSection(key):
			return y.section(key+".", value, at)
		default:
			return y.refuse(key, at, "no such key")
		}
	})
}

func (y yamlFile) isSection(key string) bool {
	for _, f := range y.fields {
		if strings.HasPrefix(f.key, key+".") {
			return true
		}
	}
	return false
}

func (y yamlFile) applyMap(f field, node ast.Node, at origin) error {
	prefix := f.key + "."
	return y.each(prefix, node, at, func(key string, value ast.Node, at origin) error {
		if peers, ok := f.value.Interface().(map[string]Peer); ok {
			y.origins[key] = at
			peer, err := y.peer(key+".", value, at)
			peers[strings.TrimPrefix(key, prefix)] = peer
			return err
		}
		text, err := scalar(value)
		if err != nil {
			return y.refuse(key, at, err.Error())
		}
		f.value.Interface().(map[string]string)[strings.TrimPrefix(key, prefix)] = text
		y.origins[key] = at
		return nil
	})
}

// peer reads a mapping as a section of its own.
func (y yamlFile) peer(prefix string, node ast.Node, at origin) (Peer, error) {
	var p Peer
	one := *y.loader // with its own fields, and the origins of all
	one.fields = walk(prefix, reflect.ValueOf(&p).Elem())
	err := yamlFile{&one, y.path, y.base}.section(prefix, node, at)
	return p, err
}

func (y yamlFile) applyList(f field, node ast.Node, at origin) error {
	list := f.value.Addr().Interface().(*[]string)
	*list = []string{}
	y.origins[f.key] = at
	if _, null := node.(*ast.NullNode); null {
		return nil
	}
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		return y.refuse(f.key, at, "a list is wanted here")
	}
	for _, item := range sequence.Values {
		text, err := scalar(item)
		if err != nil {
			return y.refuse(f.key, at, err.Error())
		}
		*list = append(*list, text)
	}
	return nil
}

// each calls visit for every pair of a mapping with the full key and the place
// of the key.
func (y yamlFile) each(prefix string, node ast.Node, at origin, visit func(string, ast.Node, origin) error) error {
	switch node.(type) {
	case nil, *ast.NullNode:
		return nil
	}
	mapping, ok := node.(ast.MapNode)
	if !ok {
		return y.refuse(strings.TrimSuffix(prefix, "."), at, "keys with values are wanted here")
	}
	seen := map[string]bool{}
	for pairs := mapping.MapRange(); pairs.Next(); {
		at := y.at(lineOf(pairs.Key().GetToken()))
		name, err := scalar(pairs.Key())
		if err != nil {
			return y.refuse(strings.TrimSuffix(prefix, "."), at, "a key is wanted: "+err.Error())
		}
		if seen[name] {
			return y.refuse(prefix+name, at, "the key stands here for the second time")
		}
		seen[name] = true
		if err := visit(prefix+name, pairs.Value(), at); err != nil {
			return err
		}
	}
	return nil
}
