package static

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"memd/internal/regular"
)

// Names of the files in a folder of model2vec.
const (
	tensorsFile   = "model.safetensors"
	tokenizerName = "tokenizer.json"
)

// maxTokenizer is the most bytes of a tokenizer.json. That of half a million
// pieces takes 20 MB.
const maxTokenizer = 64 << 20

// model2vec reads a folder of model2vec.
func (c *conversion) model2vec() error {
	t, err := c.readTokenizer(filepath.Join(c.from, tokenizerName))
	if err != nil {
		return err
	}
	file := filepath.Join(c.from, tensorsFile)
	f, err := regular.Open(file)
	if err != nil {
		return c.missing(file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	tensors, err := parseTensors(f, info.Size())
	if err != nil {
		return c.refuse(file, 0, "%v", err)
	}
	m, err := chooseTensors(tensors, f)
	if err != nil {
		return c.refuse(file, 0, "%v", err)
	}
	c.header.cut, c.header.flags = t.cut, t.flags
	return c.takeModel(f, file, m, t)
}

func (c *conversion) readTokenizer(file string) (tokenizer, error) {
	f, err := regular.Open(file)
	if err != nil {
		return tokenizer{}, c.missing(file, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxTokenizer+1))
	if err != nil {
		return tokenizer{}, err
	}
	if len(raw) > maxTokenizer {
		return tokenizer{}, c.refuse(file, 0, "larger than 64 MiB")
	}
	t, err := parseTokenizer(raw)
	if err != nil {
		return tokenizer{}, c.refuse(file, 0, "%v", err)
	}
	return t, nil
}

// tensors are the arrays of a model.
type tensors struct {
	vectors tensor
	weights []float64 // by piece, nil for all 1
	mapping []float64 // the row by piece, nil for the piece's own number
}

// chooseTensors picks the arrays by the names that model2vec and
// sentence-transformers give them.
func chooseTensors(all map[string]tensor, r io.ReaderAt) (tensors, error) {
	var m tensors
	found := false
	for _, name := range []string{"embeddings", "embedding.weight", "0"} {
		if t, ok := all[name]; ok && !found {
			m.vectors, found = t, true
		}
	}
	v := m.vectors
	switch {
	case !found:
		return m, errors.New("no tensor of the name embeddings")
	case len(v.Shape) != 2 || v.width() == 0:
		return m, errors.New("embeddings that are no table of numbers of a type that is read here")
	case v.Shape[0] < 1 || v.Shape[0] > maxRows:
		return m, errors.New("no vectors, or more than a table can hold")
	}
	for name, list := range map[string]*[]float64{"weights": &m.weights, "mapping": &m.mapping} {
		if t, ok := all[name]; ok {
			var err error
			if *list, err = t.list(r, maxRows); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

// takeModel writes rows and pieces.
func (c *conversion) takeModel(f *os.File, file string, m tensors, t tokenizer) error {
	if m.vectors.Shape[1] > maxDim {
		return c.start(file, 0, maxDim+1)
	}
	if err := c.start(file, 0, int(m.vectors.Shape[1])); err != nil {
		return err
	}
	scales, err := c.takeRows(f, file, m.vectors)
	if err != nil {
		return err
	}
	// A fixed order, whatever that of a JSON object's map.
	slices.SortFunc(t.pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.text, b.text)) })
	for _, p := range t.pieces {
		if err := c.takePiece(p, m, scales); err != nil {
			return err
		}
	}
	if len(c.w.words) == 0 {
		return c.refuse(c.from, 0, "no pieces with vectors")
	}
	return nil
}

// takeRows writes all rows and returns their scales.
func (c *conversion) takeRows(f *os.File, file string, t tensor) ([]float32, error) {
	in := bufio.NewReaderSize(t.reader(f), 1<<18)
	raw := make([]byte, c.w.dim*t.width())
	v := make([]float32, c.w.dim)
	scales := make([]float32, t.Shape[0])
	for i := range scales {
		if i%progressLines == 0 {
			if err := c.ctx.Err(); err != nil {
				return nil, err
			}
			c.Progress(int64(i)*int64(len(raw)), int64(len(scales))*int64(len(raw)))
		}
		if _, err := io.ReadFull(in, raw); err != nil {
			return nil, err
		}
		for j := range v {
			v[j] = float32(t.number(raw[j*t.width():]))
			if !finite(v[j]) {
				return nil, c.refuse(file, 0, "vector %d of embeddings holds a number that is not finite", i)
			}
		}
		var err error
		if _, scales[i], err = c.w.row(v); err != nil {
			return nil, err
		}
	}
	c.Progress(int64(len(scales))*int64(len(raw)), int64(len(scales))*int64(len(raw)))
	return scales, nil
}

// takePiece adds a piece with the row that it maps to.
func (c *conversion) takePiece(p piece, m tensors, scales []float32) error {
	at := func(list []float64, otherwise float64) (float64, bool) {
		if list == nil {
			return otherwise, true
		}
		if p.id < 0 || p.id >= len(list) {
			return 0, false
		}
		return list[p.id], true
	}
	row, ok1 := at(m.mapping, float64(p.id))
	weight, ok2 := at(m.weights, 1)
	if !ok1 || !ok2 || !(row >= 0 && row < float64(len(scales))) || !finite(float32(weight)) {
		return c.refuse(c.from, 0, "piece %d of %s has no vector in %s", p.id, tokenizerName, tensorsFile)
	}
	chars := utf8.RuneCountInString(p.text)
	factor := scales[int(row)] * float32(weight)
	if len(p.text) > maxWord || factor == 0 || !finite(factor) || !finite(p.score) || c.w.has([]byte(p.text)) {
		c.skipped++
		return nil
	}
	c.w.add([]byte(p.text), uint32(row), factor, p.score)
	c.header.longest = max(c.header.longest, uint8(chars))
	return nil
}
