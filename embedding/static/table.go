package static

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"memd"
	"memd/embedding"
	"memd/internal/regular"
)

// Table is an [embedding.Embedder] over a table's file. Close ends it.
type Table struct {
	model string
	dim   int
	words int
	size  int64

	mu      sync.RWMutex // held shared while the mapping is in use
	view    *view        // nil once closed
	release func() error
}

var _ embedding.Embedder = (*Table)(nil)

var errClosed = errors.New("the table is closed")

// Open maps the table at path. A file that is no table, or a damaged one, is a
// memd.Error.
func Open(path string) (*Table, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // a mapping outlives its file
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	refuse := func(err error) (*Table, error) {
		return nil, (&memd.Error{Code: memd.CodeInvalidRequest, Message: fmt.Sprintf("open %s: %v", path, err)}).
			WithHint("make the table anew with memd model add")
	}
	switch {
	case !info.Mode().IsRegular(), info.Size() < headerBytes:
		return refuse(errNoTable)
	case info.Size() > min(maxTotal, math.MaxInt):
		return refuse(damaged("it has %d bytes", info.Size()))
	}
	data, release, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	v, err := parse(data)
	if err != nil {
		_ = release()
		return refuse(err)
	}
	return &Table{model: "static/" + v.model, dim: int(v.dim), words: int(v.words), size: info.Size(), view: v, release: release}, nil
}

// Close gives the mapping back after the calls under way. Later calls fail.
func (t *Table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.view == nil {
		return nil
	}
	t.view = nil
	return t.release()
}

// Model is "static/", the name given to Convert, "@" and the start of the
// table's checksum: another table is another model.
func (t *Table) Model() string { return t.model }

// NameOf is the name given to Convert of a table's Model, "" for that of another
// embedder.
func NameOf(model string) string {
	name, ok := strings.CutPrefix(model, "static/")
	at := strings.LastIndexByte(name, '@')
	if !ok || at < 0 {
		return ""
	}
	return name[:at]
}

// Dim returns the length of the vectors.
func (t *Table) Dim() int { return t.dim }

// Words returns how many words, or pieces of words, the table holds.
func (t *Table) Words() int { return t.words }

// Size returns the bytes of the file.
func (t *Table) Size() int64 { return t.size }

// Embed makes the vectors. A text has none when the table knows no word of it. The only errors are
// those of ctx, and of a closed table.
func (t *Table) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.view == nil {
		return nil, &embedding.Fault{Err: errClosed}
	}
	vectors := make([][]float32, 0, len(texts))
	c := newCutter(t.view)
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return vectors, fmt.Errorf("embed: %w", err)
		}
		vectors = append(vectors, c.vector(text))
	}
	return vectors, nil
}

// cutter makes vectors one after the other. It is for one goroutine.
type cutter struct {
	*view
	sum    []float32 // of the text under way, nil until a word of it is known
	buf    []byte
	pieces []entry
	paths  []path // Unigram's
}

func newCutter(v *view) *cutter { return &cutter{view: v} }

// vector is the vector of text, nil if it has none.
func (c *cutter) vector(text string) []float32 {
	c.sum = nil
	switch c.cut {
	case cutWords:
		c.words(text)
	case cutWordPiece:
		c.wordPieces(text)
	case cutUnigram:
		c.unigrams(text)
	}
	if c.sum == nil {
		return nil
	}
	removeComponent(c.sum, c.component)
	if embedding.Check(c.sum, len(c.sum)) != nil {
		return nil
	}
	embedding.Unit(c.sum)
	return c.sum
}

// add counts a word.
func (c *cutter) add(e entry) {
	if c.sum == nil {
		c.sum = make([]float32, c.dim)
	}
	c.addTo(c.sum, e)
}

// removeComponent takes off v what lies along c, or the share of it that is the
// square of c's length.
func removeComponent(v, c []float32) {
	along := float32(dot(v, c))
	for i := range v {
		v[i] -= along * c[i]
	}
}

func length(v []float32) float64 { return math.Sqrt(dot(v, v)) }

func dot(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
