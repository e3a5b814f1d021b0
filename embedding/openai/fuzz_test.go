package openai

import (
	"errors"
	"testing"

	"memd/embedding"
)

// FuzzAnswer: any bytes are an answer. They give as many vectors as were asked
// for, or one of the two errors.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		``, `{`, `null`, `[]`, `{"data":null}`, `{"data":[null,null]}`, `{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}]}`,
		`{"data":[{"embedding":[1,2]},{"embedding":"x"}]}`, `{"data":[{"index":9223372036854775807},{"index":1.5}]}`, `{"data":[{"index":0,"embedding":[NaN]}]}`,
		`{"data":[{"index":1,"embedding":[1e999,-0,[],{},null,""]},{"index":0,"embedding":{}}]} trailing`,
	} {
		f.Add([]byte(body), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		if n < 1 || n > batchTexts {
			return
		}
		vectors, err := parse(body, n)
		_, rejected := errors.AsType[*rejection](err)
		_, faulty := errors.AsType[*embedding.Fault](err)
		switch {
		case err == nil && len(vectors) != n:
			t.Errorf("%d vectors for %d texts", len(vectors), n)
		case err != nil && !rejected && !faulty:
			t.Errorf("unknown error %v", err)
		}
	})
}
