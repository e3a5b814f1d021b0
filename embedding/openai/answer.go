package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"memd/embedding"
)

// answer is what is read of a server's.
type answer struct {
	Data []item `json:"data"`
}

type item struct {
	Index     *int            `json:"index"`
	Embedding json.RawMessage `json:"embedding"`
}

// parse returns the n vectors of an answer in the order of their texts; a
// vector that is no list of numbers is nil.
func parse(body []byte, n int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		// Some servers write NaN for the vector of a text they choke on. It is
		// no JSON, but a text is behind it; an answer cut short has no such mark.
		syntax, ok := errors.AsType[*json.SyntaxError](err)
		if ok && syntax.Offset < int64(len(body)) {
			return nil, &rejection{"the server answered with other than JSON"}
		}
		return nil, malformed("the answer is cut short or no list of vectors")
	}
	if len(a.Data) != n {
		return nil, malformed("the answer holds %d vectors for %d texts", len(a.Data), n)
	}
	vectors, filled := make([][]float32, n), make([]bool, n)
	numbered := a.Data[0].Index != nil
	for i, it := range a.Data {
		if (it.Index != nil) != numbered {
			return nil, malformed("the answer numbers only some of its vectors")
		}
		at := i
		if numbered {
			at = *it.Index
		}
		if at < 0 || at >= n || filled[at] {
			return nil, malformed("the answer numbers its vectors with other than 0 to %d", n-1)
		}
		vectors[at], filled[at] = numbers(it.Embedding), true
	}
	return vectors, nil
}

// malformed is the fault of an answer that makes no sense. A proxy under way
// may be behind it, so it may pass.
func malformed(format string, args ...any) error {
	return &embedding.Fault{Passing: true, Err: fmt.Errorf(format, args...)}
}

// numbers reads a JSON list of numbers, nil if it is something else. A number
// beyond float32 becomes infinite, for Check to find.
func numbers(raw json.RawMessage) []float32 {
	list, ok := bytes.CutPrefix(bytes.TrimSpace(raw), []byte("["))
	if !ok {
		return nil
	}
	list = bytes.TrimSuffix(list, []byte("]")) // there, since the JSON is whole
	v := make([]float32, 0, bytes.Count(list, []byte(","))+1)
	for field := range bytes.SplitSeq(list, []byte(",")) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 32)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil
		}
		v = append(v, float32(x))
	}
	return v
}
