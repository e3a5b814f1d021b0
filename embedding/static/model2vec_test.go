package static

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

func TestWordPiece(t *testing.T) {
	pieces := []string{"[PAD]", "[UNK]", "un", "##aff", "##able", "##ab", "aff", "重", "启", "cafe", ",", "-", "the", "##s", "daemon", "[CLS]"}
	table := converted(t, folder(t, wordPieceJSON(pieces...), tensorsOf(t, map[string][][]float32{"embeddings": identity(len(pieces))})))
	for _, c := range []struct{ text, want string }{
		{"unaffable", "un ##aff ##able"},
		{"UNAFFABLE", "un ##aff ##able"},
		{"unaffab", "un ##aff ##ab"},
		{"unaffx", ""}, // a rest that is no piece: the word is unknown
		{"able", ""},
		{"un-aff, the", "un aff , - the"},
		{"重启daemons", "重 启 ##s daemon"},
		{"Café", "cafe"},
		{"CAFE\u0301", "cafe"},
		{"the\x00\u200bs", "the ##s"},
		{strings.Repeat("aff", 40), ""}, // longer than a word may be
		{"[PAD] [UNK]", ""},
	} {
		if got := along(t, table, pieces, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if table.Words() != len(pieces)-2 {
		t.Errorf("%d words", table.Words())
	}
}

func TestUnigram(t *testing.T) {
	pieces := []string{"<unk>", "▁un", "aff", "able", "affable", "▁", "a", "▁new▁york", "▁new", "▁york", "重启", "设备", "启设", "▁重启", "▁.", "▁a"}
	table := converted(t, folder(t, unigramJSON(pieces...), tensorsOf(t, map[string][][]float32{"embeddings": identity(len(pieces))})))
	for _, c := range []struct{ text, want string }{
		{"unaffable", "▁un affable"},
		{"UN affable", "▁un affable ▁"},
		{"new york", "▁new▁york"},
		{"  New \t\n York ", "▁new▁york"},
		{"new a york", "▁new ▁york ▁a"},
		{"重启设备", "设备 ▁重启"},
		{"unxaff", "▁un aff"}, // x is unknown, its neighbours are not
		{"new.", "▁new ▁."},
		{"zzz", "▁"},
		{"<unk>", "▁un ▁"}, // text, not the special piece
	} {
		if got := along(t, table, pieces, c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// Numbers of half and double precision, weights and a mapping of pieces to
// shared rows are read.
func TestTensors(t *testing.T) {
	pieces := []string{"[PAD]", "[UNK]", "one", "two", "both"}
	tokenizer := wordPieceJSON(pieces...)
	rows := [][]float32{{0, 0}, {0.25, -0.75}, {0.5, 1.5}}
	mapping := [][]float32{{0, 0, 1, 2, 2}}
	weights := [][]float32{{1, 1, 1, 1, 3}}
	for name, arrays := range map[string]map[string][][]float32{
		"F32":                   {"embeddings": {{0, 0}, {0, 0}, rows[1], rows[2], rows[2]}},
		"F16":                   {"embeddings:F16": {{0, 0}, {0, 0}, rows[1], rows[2], rows[2]}},
		"F64, another name":     {"embedding.weight:F64": {{0, 0}, {0, 0}, rows[1], rows[2], rows[2]}},
		"I8":                    {"embeddings:I8": {{0, 0}, {0, 0}, {1, -3}, {2, 6}, {2, 6}}},
		"weights and a mapping": {"embeddings": rows, "mapping:I64": mapping, "weights:F64": weights},
	} {
		table := converted(t, folder(t, tokenizer, tensorsOf(t, arrays)))
		for word, want := range map[string][]float32{"one": rows[1], "two": rows[2], "both": rows[2]} {
			got := embed(t, table, word)
			if got == nil || dot(got, want)/length(want) < 0.9999 {
				t.Errorf("%s: %s is %v, along %v", name, word, got, want)
			}
		}
		if _, ok := arrays["weights:F64"]; ok {
			sum := []float32{rows[1][0] + 3*rows[2][0], rows[1][1] + 3*rows[2][1]}
			if got := embed(t, table, "one both"); dot(got, sum)/length(sum) < 0.999 {
				t.Errorf("weighted sum %v, along %v", got, sum)
			}
		}
	}
}

func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0400: 1.0 / (1 << 14), 0x0001: 1.0 / (1 << 24), 0x83ff: -1023.0 / (1 << 24), 0x3555: 0.333251953125,
		0x7c00: float32(math.Inf(1)), 0xfc00: float32(math.Inf(-1)),
	} {
		if got := half(bits); got != want {
			t.Errorf("%04x is %v, want %v", bits, got, want)
		}
	}
	if x := half(0x7e00); x == x {
		t.Errorf("7e00 is %v, want NaN", x)
	}
	if bits := math.Float32bits(half(0x8000)); bits != 1<<31 {
		t.Errorf("8000 is %x, want minus zero", bits)
	}
}

func TestHostileFolder(t *testing.T) {
	pieces := []string{"[PAD]", "[UNK]", "one"}
	tokenizer, tensors := wordPieceJSON(pieces...), tensorsOf(t, map[string][][]float32{"embeddings": identity(3)})
	header := func(json string) string {
		return string(binary.LittleEndian.AppendUint64(nil, uint64(len(json)))) + json + strings.Repeat("\x00", 64)
	}
	change := func(old, new string) string {
		if !strings.Contains(tokenizer, old) {
			t.Fatalf("no %s", old)
		}
		return strings.Replace(tokenizer, old, new, 1)
	}
	nan := float32(math.NaN())
	for name, c := range map[string]struct{ tokenizer, tensors, want string }{
		"no JSON":               {"{", tensors, "tokenizer.json: no tokenizer"},
		"of another form":       {"[]", tensors, "tokenizer.json: no tokenizer"},
		"nothing":               {"{}", tensors, "of type \"\""},
		"BPE":                   {change("WordPiece", "BPE"), tensors, "of type \"BPE\""},
		"another prefix":        {change(`"##"`, `"@@"`), tensors, "other than ##"},
		"a vocabulary of texts": {change(`"one":2`, `"one":"2"`), tensors, "numbered pieces"},
		"no pre_tokenizer":      {change(`{"type":"BertPreTokenizer"}`, "null"), tensors, "without a pre_tokenizer"},
		"other pre_tokenizer":   {change("BertPreTokenizer", "ByteLevel"), tensors, "pre_tokenizer of type \"ByteLevel\""},
		"other normalizer":      {change("BertNormalizer", "Prepend"), tensors, "normalizer of type \"Prepend\""},
		"replacing normalizer":  {change(`"BertNormalizer"`, `"Replace","pattern":{"String":"a"},"content":"b"`), tensors, "replaces something"},
		"deep normalizers":      {change(`"BertNormalizer"`, `"Sequence","normalizers":[`+strings.Repeat(`{"type":"Sequence","normalizers":[`, 20)+strings.Repeat("]}", 20)+"]"), tensors, "nested too deep"},
		"a number without row":  {change(`"one":2`, `"one":3`), tensors, "piece 3 of tokenizer.json has no vector"},
		"a negative number":     {change(`"one":2`, `"one":-1`), tensors, "piece -1 of tokenizer.json has no vector"},
		"no pieces":             {change(`"one":2`, `"":2`), tensors, "no pieces with vectors"},
		"empty":                 {tokenizer, "", "model.safetensors: no safetensors file"},
		"header beyond":         {tokenizer, "\xff\xff\xff\xff\xff\xff\xff\xff{}", "no sensible size"},
		"header beyond file":    {tokenizer, "\x40\x00\x00\x00\x00\x00\x00\x00{}", "no sensible size"},
		"header no JSON":        {tokenizer, header("nope"), "no JSON object"},
		"a tensor of nothing":   {tokenizer, header(`{"embeddings":{"dtype":"F32"}}`), "without type, shape and offsets"},
		"a negative shape":      {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[-1,4],"data_offsets":[0,16]}}`), "without type"},
		"offsets beyond":        {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[5,4],"data_offsets":[0,80]}}`), "not lie within the file"},
		"offsets back":          {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[1,4],"data_offsets":[16,0]}}`), "not lie within the file"},
		"offsets around":        {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[1,4],"data_offsets":[18446744073709551600,0]}}`), "not lie within the file"},
		"another size":          {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[2,4],"data_offsets":[0,16]}}`), "of its shape's size"},
		"a shape that wraps":    {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}`), "of its shape's size"},
		"another type":          {tokenizer, header(`{"embeddings":{"dtype":"U8","shape":[4,4],"data_offsets":[0,16]}}`), "of a type that is read"},
		"one dimension":         {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}`), "no table of numbers"},
		"no rows":               {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]}}`), "no vectors"},
		"no columns":            {tokenizer, header(`{"embeddings":{"dtype":"F32","shape":[4,0],"data_offsets":[0,0]}}`), "vectors of 0 numbers"},
		"too wide":              {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": {make([]float32, maxDim+1)}}), "vectors of 4097 numbers"},
		"another name":          {tokenizer, tensorsOf(t, map[string][][]float32{"weight": identity(3)}), "no tensor of the name embeddings"},
		"not finite":            {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": {{1, 0}, {0, 1}, {nan, 0}}}), "vector 2 of embeddings"},
		"mapped beyond":         {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(3), "mapping:I64": {{0, 1, 3}}}), "piece 2 of tokenizer.json"},
		"mapped nowhere":        {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(3), "mapping:F64": {{0, 1, nan}}}), "piece 2 of tokenizer.json"},
		"short mapping":         {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(3), "mapping:I64": {{0, 1}}}), "piece 2 of tokenizer.json"},
		"weighed with NaN":      {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(3), "weights:F64": {{0, 1, nan}}}), "piece 2 of tokenizer.json"},
		"a table of weights":    {tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(3), "weights": {{1, 1}, {1, 1}}}), "a list of type"},
	} {
		dir := folder(t, c.tokenizer, c.tensors)
		to := filepath.Join(filepath.Dir(dir), "table")
		_, err := Convert(t.Context(), dir, to, Options{})
		if memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if files, _ := os.ReadDir(filepath.Dir(dir)); len(files) != 1 {
			t.Errorf("%s left %v", name, files)
		}
	}
}

func TestHostileUnigram(t *testing.T) {
	tensors := tensorsOf(t, map[string][][]float32{"embeddings": identity(2)})
	for name, c := range map[string]struct{ old, new, want string }{
		"falls back to bytes": {`"unk_id":0`, `"unk_id":0,"byte_fallback":true`, "falls back to bytes"},
		"no list":             {`"vocab":[`, `"vocab":{},"x":[`, "pieces with scores"},
		"no score":            {`["▁one",`, `["▁one","x",`, "piece 1 of the Unigram"},
		"no text":             {`["▁one",`, `[1,`, "piece 1 of the Unigram"},
		"a score beyond":      {`["▁one",`, `["▁one",1e999,`, "piece 1 of the Unigram"},
		"another space":       {`"replacement":"▁"`, `"replacement":"_"`, "pre_tokenizer of type \"Metaspace\""},
	} {
		tokenizer := unigramJSON("<unk>", "▁one")
		if !strings.Contains(tokenizer, c.old) {
			t.Fatalf("no %s", c.old)
		}
		dir := folder(t, strings.Replace(tokenizer, c.old, c.new, 1), tensors)
		_, err := Convert(t.Context(), dir, dir+"-table", Options{})
		if memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A character without a piece costs more than any piece.
func TestUnigramUnknown(t *testing.T) {
	tokenizer := strings.NewReplacer(`["▁ab",`, `["▁ab",-25],["x",`, `["b",`, `["b",-1],["y",`).Replace(unigramJSON("<unk>", "▁ab", "b"))
	pieces := []string{"<unk>", "▁ab", "x", "b", "y"}
	table := converted(t, folder(t, tokenizer, tensorsOf(t, map[string][][]float32{"embeddings": identity(5)})))
	if got := along(t, table, pieces, "ab"); got != "▁ab" {
		t.Errorf("ab: %q", got)
	}
	if got := along(t, table, pieces, "qb"); got != "b" {
		t.Errorf("qb: %q", got)
	}
}
