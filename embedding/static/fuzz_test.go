package static

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"memd"
	"memd/embedding"
)

// FuzzText: any bytes are a file of words. It becomes a table that opens, or
// the refusal names the file.
func FuzzText(f *testing.F) {
	for _, text := range []string{
		"one 1 0\ntwo 0 1\n", "2 2\none 1 0\ntwo 0 1", "1 1\n", "1 1 1\n1 1 1\n", "a 1e38 -1e38\n", "a 1e-45\nb 1e-46\n", "\xff 1\n", "重启 1 2\r\n🚀\t3\t4\n", " . . . 1 2\n",
		"9223372036854775807 2\na 1 1\n", "a  1\n\n\n", "a\x00 1\n", "İ 1\nẞ 2\nΣς 3\n", "a.b/c 1\na..b 1\n", "a 1_0\nb 0x1p4\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "m.vec"), filepath.Join(dir, "table")
		writeFile(t, from, string(text))
		report, err := Convert(t.Context(), from, to, Options{})
		if err != nil {
			if memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), from) {
				t.Errorf("%v", err)
			}
			return
		}
		table := opened(t, to)
		if table.Model() != report.Model || table.Words() != report.Words || report.Words == 0 {
			t.Errorf("%+v, and the table is %s of %d words", report, table.Model(), table.Words())
		}
		embed(t, table, string(text))
	})
}

// FuzzFold: folding is the same twice, and a table's word that is kept is found
// by a text of it.
func FuzzFold(f *testing.F) {
	for _, s := range []string{"One", "café", "CAFE\u0301", "ΣΟΦΟΣ", "İ", "H\u0331", "ﬁ", "u.s.", "don’t", "重启", "ｶﾞ", "🚀", "한국", "ก็", "\xff", "a-b", "ǅ", "ẞ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		word := foldTableWord(nil, []byte(s))
		if len(word) == 0 {
			return
		}
		if again := fold(nil, string(word)); !bytes.Equal(again, word) {
			t.Skip("a character whose small letter folds on") // too rare to matter; such a word is not found
		}
		w := view{header: header{buckets: 1, words: 1, rows: 1, dim: 1, longest: maxRun}, vectors: []byte{1}, component: []float32{0}}
		w.list = binary.LittleEndian.AppendUint32([]byte{byte(len(word)), 0, 0, 0, 0}, math.Float32bits(1)) // row 0, factor 1
		w.list = append(w.list, word...)
		w.directory = binary.LittleEndian.AppendUint32(make([]byte, 4), uint32(len(w.list)))
		if newCutter(&w).vector(s) == nil {
			t.Errorf("%q is in the table as %q and not found", s, word)
		}
	})
}

// FuzzTable: any bytes are a table. They are refused, or every text can be
// embedded with them. The checksum is put right, or nothing would get past it.
func FuzzTable(f *testing.F) {
	for _, table := range seeds(f) {
		f.Add(fileOf(f, table))
	}
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= headerBytes {
			sum := sumOf(b)
			copy(b[sumAt:], sum[:])
		}
		v, err := parse(b)
		if err != nil {
			return
		}
		if !utf8.ValidString(v.model) {
			t.Errorf("model %q", v.model)
		}
		c := newCutter(v)
		for _, text := range []string{"one two", "重启设备", "Don't test-all. getUserName", "\xff\x00", strings.Repeat("a", 300), string(v.list)} {
			if vector := c.vector(text); vector != nil && embedding.Check(vector, int(v.dim)) != nil {
				t.Errorf("%q has the vector %v", text, vector)
			}
		}
	})
}

func seeds(f *testing.F) []*Table {
	table, _ := axes(f, "one", "two", "重启")
	pieces := []string{"[PAD]", "[UNK]", "one", "##s", "重"}
	spaced := []string{"<unk>", "▁one", "▁t", "wo", "重"}
	return []*Table{table,
		converted(f, folder(f, wordPieceJSON(pieces...), tensorsOf(f, map[string][][]float32{"embeddings": identity(len(pieces))}))),
		converted(f, folder(f, unigramJSON(spaced...), tensorsOf(f, map[string][][]float32{"embeddings": identity(len(spaced))}))),
	}
}

// FuzzTensors: any bytes are a safetensors file. What is found in it lies
// within it.
func FuzzTensors(f *testing.F) {
	f.Add([]byte(tensorsOf(f, map[string][][]float32{"embeddings:F16": {{1, 2}, {3, 4}}, "mapping:I64": {{0, 1}}})))
	for _, json := range []string{`{}`, `null`, `{"embeddings":null}`, `{"0":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]}}`, `{"a":{"dtype":"U8","shape":[9],"data_offsets":[0,0]}}`} {
		f.Add(append(binary.LittleEndian.AppendUint64(nil, uint64(len(json))), json+"\x00\x00\x80\x3f"...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		all, err := parseTensors(r, r.Size())
		if err != nil {
			return
		}
		for _, tensor := range all {
			if tensor.Offsets[0] < 8 || tensor.Offsets[1] > uint64(len(b)) || tensor.Offsets[0] > tensor.Offsets[1] {
				t.Errorf("%+v in %d bytes", tensor, len(b))
			}
			if list, err := tensor.list(r, 1<<20); err == nil && uint64(len(list)*tensor.width()) != tensor.Offsets[1]-tensor.Offsets[0] {
				t.Errorf("%d numbers of %+v", len(list), tensor)
			}
		}
		_, _ = chooseTensors(all, r)
	})
}

// FuzzTokenizer: any bytes are a tokenizer.json. It is refused, or its pieces
// make a table.
func FuzzTokenizer(f *testing.F) {
	f.Add([]byte(wordPieceJSON("[PAD]", "[UNK]", "one", "##s")))
	f.Add([]byte(unigramJSON("<unk>", "▁one", "s")))
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[]},"pre_tokenizer":{"type":"Metaspace"}}`))
	tensors := tensorsOf(f, map[string][][]float32{"embeddings": identity(4)})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, err := parseTokenizer(raw); err != nil {
			return
		}
		dir := folder(t, string(raw), tensors)
		if _, err := Convert(t.Context(), dir, dir+"-table", Options{}); err != nil {
			if memd.CodeOf(err) != memd.CodeInvalidRequest {
				t.Errorf("%v", err)
			}
			return
		}
		embed(t, opened(t, dir+"-table"), string(raw)+" one 重启")
	})
}

// FuzzLines: lines and the numbers at their ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one 1 2\n\ntwo 3 4"), 2)
	f.Add([]byte(strings.Repeat("x", 1<<16)+"\n1 2 3"), 3)
	f.Fuzz(func(t *testing.T, text []byte, dim int) {
		if dim < 1 || dim > 64 {
			return
		}
		l := lines{in: bufio.NewReaderSize(bytes.NewReader(text), 16)}
		v := make([]float32, dim)
		for {
			line, err := l.next()
			if err != nil {
				break
			}
			word, err := splitLine(line, v)
			if err == nil && (len(word) == 0 || embedding.Check(append(v, 1), dim+1) != nil) {
				t.Errorf("%q: word %q, numbers %v", line, word, v)
			}
		}
		if l.n < bytes.Count(text, []byte("\n")) && len(text) <= maxLine {
			t.Errorf("%d lines of %d", l.n, bytes.Count(text, []byte("\n")))
		}
		if l.read > int64(len(text)) {
			t.Errorf("read %d bytes of %d", l.read, len(text))
		}
	})
}
