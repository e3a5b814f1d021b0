package static

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memd"
)

// convert runs Convert over a file of the given content.
func convert(t *testing.T, content string, o Options) (Report, string, error) {
	t.Helper()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "model.vec"), filepath.Join(dir, "table")
	writeFile(t, from, content)
	report, err := Convert(t.Context(), from, to, o)
	if left, _ := filepath.Glob(filepath.Join(dir, ".memd-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return report, to, err
}

func TestTextForms(t *testing.T) {
	for name, content := range map[string]string{
		"GloVe":            "one 1 0\ntwo 0 1\n",
		"fastText":         "2 2\none 1 0 \ntwo 0 1 \n",
		"no last line end": "one 1 0\ntwo 0 1",
		"Windows":          "2 2\r\none 1 0\r\ntwo 0 1\r\n",
		"tabs, blanks":     "one\t1\t0\n\n  \ntwo   0  1e0\n",
		"exponents":        "one +1.0 -0e-4\ntwo 0x0p0 1\n",
	} {
		report, to, err := convert(t, content, Options{Name: "n"})
		if err != nil || report.Words != 2 || report.Dim != 2 || report.Skipped != 0 || !strings.HasPrefix(report.Model, "static/n@") {
			t.Errorf("%s: %+v, %v", name, report, err)
			continue
		}
		if info, err := os.Stat(to); err != nil || info.Size() != report.Bytes || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
		table := opened(t, to)
		for i, word := range []string{"one", "two"} {
			if v := embed(t, table, word); v == nil || v[i] < 0.999 {
				t.Errorf("%s: vector of %s is %v", name, word, v)
			}
		}
	}
}

// What no text can find is left out; the first of a word's forms stays.
func TestSkippedWords(t *testing.T) {
	content := strings.Join([]string{
		axis("one", 0, 4), axis("One", 1, 4), axis(",", 1, 4), axis(". . .", 1, 4), axis("'s", 1, 4), axis("ONE.", 1, 4), "zero 0 0 0 0",
		axis(strings.Repeat("x", 256), 1, 4), axis("bad\xff", 1, 4), axis("new york", 1, 4), axis("卡拉OK", 1, 4), axis(strings.Repeat("重", 17), 1, 4),
		axis("u.s.", 1, 4), axis("重启", 2, 4), axis("🚀", 3, 4),
	}, "\n")
	report, to, err := convert(t, content, Options{})
	if err != nil || report.Words != 4 || report.Skipped != 11 {
		t.Fatalf("%+v, %v", report, err)
	}
	table := opened(t, to)
	for i, text := range []string{"one", "U.S.", "重启", "🚀"} {
		if v := embed(t, table, text); v == nil || v[i] < 0.999 {
			t.Errorf("%s: %v", text, v)
		}
	}
}

func TestMostWords(t *testing.T) {
	report, _, err := convert(t, "3 2\none 1 0\ntwo 0 1\nthree 1 1\n", Options{Words: 2})
	if err != nil || report.Words != 2 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestHostileText(t *testing.T) {
	long := strings.Repeat("1 ", maxLine/2)
	for name, c := range map[string]struct{ content, want string }{
		"empty":           {"", "no words"},
		"blank":           {"\n\n", "no words"},
		"punctuation":     {", 1 2\n. 3 4\n", "no words"},
		"one field":       {"word\n", "line 1: vectors of 0 numbers"},
		"too few":         {"one 1 0\ntwo 1\n", "line 2: fewer numbers"},
		"no word":         {"one 1 0\n1 0\n", "line 2: fewer numbers"},
		"no number":       {"one 1 0\ntwo 1 x\n", "line 2: not a finite number"},
		"NaN":             {"one 1 0\ntwo 1 nan\n", "line 2: not a finite number"},
		"Inf":             {"one 1 0\ntwo -Inf 1\n", "line 2: not a finite number"},
		"beyond float32":  {"one 1 0\n\ntwo 1e39 1\n", "line 3: not a finite number"},
		"long line":       {"one 1 0\ntwo " + long + "\n", "line 2: longer than 256 KiB"},
		"long first line": {strings.Repeat("x", maxLine+1), "line 1: longer than 256 KiB"},
		"too wide":        {"one" + strings.Repeat(" 1", maxDim+1), "line 1: vectors of 4097 numbers"},
		"stated too wide": {"10 4097\n", "line 1: vectors of 4097 numbers"},
		"stated nothing":  {"10 0\n", "line 1: vectors of 0 numbers"},
		"stated negative": {"10 -3\n", "line 1: vectors of -3 numbers"},
		"cut short":       {"3 2\none 1 0\ntwo 0 1\n", "line 1: promises 3 words, and there are 2"},
		"cut in a line":   {"2 2\none 1 0\ntwo 0", "line 3: fewer numbers"},
		"binary":          {"\x00\x01\x02 \xff\xfe\n\x00 x\n", "line 1: not a finite number"},
	} {
		_, to, err := convert(t, c.content, Options{})
		if memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(fmt.Sprint(err), c.want) || !strings.Contains(err.Error(), "model.vec") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left a table", name)
		}
	}
}

// A conversion that fails leaves the table that was there.
func TestOldTableStays(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "m.txt"), filepath.Join(dir, "table")
	writeFile(t, from, "one 1 0\n")
	old, err := Convert(t.Context(), from, to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	table := opened(t, to)
	writeFile(t, from, "one 1 0\ntwo x 0\n")
	if _, err := Convert(t.Context(), from, to, Options{}); err == nil {
		t.Error("no error")
	}
	if now := opened(t, to); now.Model() != old.Model {
		t.Errorf("the table is %s, was %s", now.Model(), old.Model)
	}
	// One that succeeds leaves those who have the old one open as they were.
	writeFile(t, from, "two 1 0\n")
	if _, err := Convert(t.Context(), from, to, Options{}); err != nil {
		t.Fatal(err)
	}
	if embed(t, table, "one") == nil || embed(t, table, "two") != nil || embed(t, opened(t, to), "two") == nil {
		t.Error("the replaced table changed under its reader")
	}
}

func TestConvertArguments(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "m.txt")
	writeFile(t, from, "one 1 0\n")
	if _, err := Convert(t.Context(), from+"-", dir+"/t", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := Convert(t.Context(), from, dir+"/no/t", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere to write: %v", err)
	}
	for _, name := range []string{strings.Repeat("n", maxName+1), "\xff", " "} {
		if _, err := Convert(t.Context(), from, dir+"/t", Options{Name: name}); memd.CodeOf(err) != memd.CodeInvalidRequest {
			t.Errorf("name %.10q: %v", name, err)
		}
	}
	if _, err := Convert(t.Context(), dir, dir+"/t", Options{}); memd.CodeOf(err) != memd.CodeInvalidRequest || !strings.Contains(err.Error(), "tokenizer.json") {
		t.Errorf("a folder without a model: %v", err)
	}
}

func TestProgressAndCancel(t *testing.T) {
	var content strings.Builder
	for i := range 4 * progressLines {
		fmt.Fprintf(&content, "word%d 1 %d\n", i, i)
	}
	var calls []int64
	size := int64(content.Len())
	_, _, err := convert(t, content.String(), Options{Progress: func(done, total int64) {
		if total != size || len(calls) > 0 && done < calls[len(calls)-1] || done > total {
			t.Errorf("%d of %d after %v", done, total, calls)
		}
		calls = append(calls, done)
	}})
	if err != nil || len(calls) < 4 || calls[len(calls)-1] != size {
		t.Errorf("progress %v of %d, %v", calls, size, err)
	}

	dir := t.TempDir()
	from := filepath.Join(dir, "m.txt")
	writeFile(t, from, content.String())
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Convert(ctx, from, filepath.Join(dir, "table"), Options{Progress: func(int64, int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left %v", files)
	}
}
