package static

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"memd"
)

// defaultWords is how many words of a file of words are kept: more of the rare
// ones make the table larger and hardly a text's vector better.
const defaultWords = 200_000

// Options say how a table is made.
type Options struct {
	Name  string // of the model; "" for the file's or folder's own
	Words int    // most words kept of a file of words, 0 for 200,000

	// Progress is called now and then with the bytes read so far and those
	// there are. It must not take long.
	Progress func(done, total int64)
}

// Report is what Convert made.
type Report struct {
	Model   string // as Table.Model gives it
	Dim     int
	Words   int
	Skipped int   // words left out: repeated, too long, or never found in a text
	Bytes   int64 // of the table
}

// Convert makes a table at the path to of a model at the path from:
//
//   - a file of GloVe's text form, a word and its numbers on each line, or of
//     fastText's and word2vec's, whose first line tells how many words and
//     numbers there are; the commonest words come first in all of them, and
//     their place is taken for their frequency;
//   - a folder of model2vec, with model.safetensors and a tokenizer.json of the
//     kind WordPiece or Unigram.
//
// Memory is taken for the words and not for their vectors. What the model's
// files hold wrong is a memd.Error that names file and line. A table that is
// there already is replaced when the new one is whole, and else stays.
func Convert(ctx context.Context, from, to string, o Options) (Report, error) {
	info, err := os.Stat(from)
	if err != nil {
		return Report{}, err
	}
	if o.Name == "" {
		o.Name = strings.TrimSuffix(info.Name(), filepath.Ext(info.Name()))
	}
	if len(o.Name) > maxName || !utf8.ValidString(o.Name) || strings.TrimSpace(o.Name) == "" {
		return Report{}, memd.FieldErrorf(memd.CodeInvalidRequest, "name", "the model's name must be text of 1 to %d bytes", maxName)
	}
	if o.Words <= 0 {
		o.Words = defaultWords
	}
	o.Words = min(o.Words, maxRows)
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	c := conversion{ctx: ctx, from: from, to: to, Options: o}
	defer func() {
		if c.w != nil {
			c.w.drop()
		}
	}()
	switch {
	case info.IsDir():
		err = c.model2vec()
	case info.Mode().IsRegular():
		err = c.textFile(info.Size())
	default:
		err = c.refuse(from, 0, "neither a file nor a folder")
	}
	if err != nil {
		return Report{}, fmt.Errorf("convert: %w", err)
	}
	return c.report()
}

// conversion is one run of Convert.
type conversion struct {
	Options
	ctx      context.Context
	from, to string
	w        *writer // nil until the dimension is known

	header    header // how texts are cut
	component []float32
	skipped   int
}

// start begins the table once the length of its vectors is known.
func (c *conversion) start(file string, line, dim int) error {
	if dim < 1 || dim > maxDim {
		return c.refuse(file, line, "vectors of %d numbers, not 1 to %d", dim, maxDim)
	}
	w, err := newWriter(filepath.Dir(c.to), dim)
	c.w = w
	return err
}

// report finishes the table and looks at it as Open does.
func (c *conversion) report() (Report, error) {
	size, err := c.w.commit(c.to, c.header, c.Name, c.component)
	if err != nil {
		return Report{}, fmt.Errorf("convert: write %s: %w", c.to, err)
	}
	table, err := Open(c.to)
	if err != nil {
		return Report{}, err
	}
	r := Report{Model: table.Model(), Dim: table.Dim(), Words: table.Words(), Skipped: c.skipped, Bytes: size}
	return r, table.Close()
}

// refuse is the error of a file that is not what it should be; line is 0 for
// the file as a whole.
func (c *conversion) refuse(file string, line int, format string, args ...any) error {
	place := file
	if line > 0 {
		place = fmt.Sprintf("%s line %d", file, line)
	}
	return memd.Errorf(memd.CodeInvalidRequest, "%s: %s", place, fmt.Sprintf(format, args...))
}

// missing turns the absence of a model's file into a refusal.
func (c *conversion) missing(file string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return c.refuse(file, 0, "not found; a folder of model2vec holds it")
	}
	return err
}
