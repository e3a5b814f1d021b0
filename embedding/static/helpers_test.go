package static

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// textTable converts lines of text and opens the table.
func textTable(t testing.TB, lines ...string) *Table {
	t.Helper()
	from := filepath.Join(t.TempDir(), "model.txt")
	writeFile(t, from, strings.Join(lines, "\n")+"\n")
	return converted(t, from)
}

// converted makes a table of the model at from and opens it.
func converted(t testing.TB, from string) *Table {
	t.Helper()
	to := filepath.Join(t.TempDir(), "table")
	if _, err := Convert(t.Context(), from, to, Options{}); err != nil {
		t.Fatal(err)
	}
	return opened(t, to)
}

func opened(t testing.TB, path string) *Table {
	t.Helper()
	table, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// axis is the line of a word whose vector points along axis n of dim.
func axis(word string, n, dim int) string {
	numbers := make([]string, dim)
	for i := range numbers {
		numbers[i] = "0"
	}
	numbers[n] = "1"
	return word + " " + strings.Join(numbers, " ")
}

// axes is a table in which each word has an axis of its own, so that a text's
// vector tells which words were found.
func axes(t testing.TB, words ...string) (table *Table, found func(text string) string) {
	t.Helper()
	lines := make([]string, len(words))
	for i, w := range words {
		lines[i] = axis(w, i, len(words))
	}
	table = textTable(t, lines...)
	return table, func(text string) string { return along(t, table, words, text) }
}

// along lists the words whose axes the vector of text has a part along.
func along(t testing.TB, table *Table, words []string, text string) string {
	t.Helper()
	var found []string
	for i, x := range embed(t, table, text) {
		if math.Abs(float64(x)) > 1e-6 {
			found = append(found, words[i])
		}
	}
	return strings.Join(found, " ")
}

func embed(t testing.TB, table *Table, text string) []float32 {
	t.Helper()
	vectors, err := table.Embed(context.Background(), []string{text})
	if err != nil || len(vectors) != 1 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	return vectors[0]
}

// tensorsOf is a safetensors file of one or more arrays of float32, "F16" made
// of them where the name says so after a colon.
func tensorsOf(t testing.TB, arrays map[string][][]float32) string {
	t.Helper()
	header, data := map[string]any{"__metadata__": map[string]string{"format": "pt"}}, []byte{}
	for name, rows := range arrays {
		name, kind, _ := strings.Cut(name, ":")
		start := len(data)
		for _, row := range rows {
			for _, x := range row {
				switch kind {
				case "F16":
					data = binary.LittleEndian.AppendUint16(data, toHalf(x))
				case "I64":
					data = binary.LittleEndian.AppendUint64(data, uint64(int64(x)))
				case "F64":
					data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(x)))
				case "I8":
					data = append(data, byte(int8(x)))
				default:
					kind = "F32"
					data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
				}
			}
		}
		shape := []int{len(rows), len(rows[0])}
		if len(rows) == 1 && (name == "weights" || name == "mapping") {
			shape = shape[1:]
		}
		header[name] = map[string]any{"dtype": kind, "shape": shape, "data_offsets": []int{start, len(data)}}
	}
	raw, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(raw)))) + string(raw) + string(data)
}

// toHalf encodes the normal numbers that tests use.
func toHalf(x float32) uint16 {
	b := math.Float32bits(x)
	if x == 0 {
		return 0
	}
	return uint16(b>>16&0x8000) | uint16((b>>23&0xff)-112)<<10 | uint16(b>>13&0x3ff)
}

// folder is a folder of model2vec.
func folder(t testing.TB, tokenizer, tensors string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "potion")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, tokenizerName), tokenizer)
	writeFile(t, filepath.Join(dir, tensorsFile), tensors)
	return dir
}

// identity is n vectors, each along an axis of its own.
func identity(n int) [][]float32 {
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, n)
		rows[i][i] = 1
	}
	return rows
}

// wordPieceJSON is a tokenizer as potion models have it.
func wordPieceJSON(pieces ...string) string {
	vocab := map[string]int{}
	for i, p := range pieces {
		vocab[p] = i
	}
	raw, _ := json.Marshal(vocab)
	return `{"version":"1.0","added_tokens":[{"id":0,"content":"[PAD]","special":true},{"id":1,"content":"[UNK]","special":true}],
"normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":null,"decoder":null,
"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":` + string(raw) + `}}`
}

// unigramJSON is a tokenizer as model2vec makes them; the scores favour long
// pieces as its own do.
func unigramJSON(pieces ...string) string {
	vocab := make([]string, len(pieces))
	for i, p := range pieces {
		text, _ := json.Marshal(p)
		vocab[i] = fmt.Sprintf("[%s,%v]", text, math.Log(float64(len([]rune(p)))/100))
	}
	return `{"added_tokens":[],"normalizer":{"type":"Sequence","normalizers":[{"type":"BertNormalizer","lowercase":true,"strip_accents":false,"handle_chinese_chars":false},
{"type":"Replace","pattern":{"String":"."},"content":" . "},{"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "},{"type":"Strip","strip_left":true,"strip_right":true}]},
"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":false},
"model":{"type":"Unigram","unk_id":0,"vocab":[` + strings.Join(vocab, ",") + `]}}`
}
