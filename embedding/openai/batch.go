package openai

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"memd/embedding"
)

// enough is how many texts are rejected, or have vectors of another length, and
// none is embedded, before it may be the request that is at fault and not they.
const enough = 3

// input is a text to be sent.
type input struct {
	index int // among the texts of the call
	text  string
}

// refusal is an input without a usable vector.
type refusal struct {
	index int
	why   error
}

// batch is a run of texts that are asked for together.
type batch struct {
	client  *Client
	inputs  []input
	vectors [][]float32 // of the whole call
	refused []refusal

	embedded int // inputs that have their vector
	rejected int // inputs that the server rejected by themselves
}

// fill takes inputs of texts from start on and returns where the next batch
// starts.
func (b *batch) fill(texts []string, start int) int {
	chars := 0
	for i, text := range texts[start:] {
		if strings.TrimSpace(text) == "" {
			continue
		}
		text, n := head(text)
		if len(b.inputs) == batchTexts || chars+n > batchChars {
			return start + i
		}
		b.inputs = append(b.inputs, input{start + i, text})
		chars += n
	}
	return len(texts)
}

// head is the part of text that is sent, and how many code points it has.
func head(text string) (string, int) {
	n := 0
	for i := range text {
		if n == textChars {
			return text[:i], n
		}
		n++
	}
	return text, n
}

// run embeds the inputs. Where the server rejects them together it is asked
// for each half, so that one bad text does not keep the others from their
// vectors. An error is about the whole batch.
func (b *batch) run(ctx context.Context, inputs []input) error {
	if len(inputs) == 0 {
		return nil
	}
	texts := make([]string, len(inputs))
	for i, in := range inputs {
		texts[i] = strings.ToValidUTF8(in.text, string(utf8.RuneError))
	}
	vectors, err := b.client.ask(ctx, texts)
	rejected, ok := errors.AsType[*rejection](err)
	switch {
	case ok && len(inputs) > 1:
		half := len(inputs) / 2
		if err := b.run(ctx, inputs[:half]); err != nil {
			return err
		}
		return b.run(ctx, inputs[half:])
	case ok:
		b.rejected++
		b.refused = append(b.refused, refusal{inputs[0].index, rejected})
		if b.rejected == enough && b.embedded == 0 {
			return b.tryOther(ctx)
		}
		return nil
	case err != nil:
		return err
	}
	return b.take(inputs, vectors)
}

// tryOther asks for a text that no server chokes on: where that is rejected too,
// the model or another setting is what the server does not like.
func (b *batch) tryOther(ctx context.Context) error {
	_, err := b.client.ask(ctx, []string{"text"})
	if rejected, ok := errors.AsType[*rejection](err); ok {
		return &embedding.Fault{Err: rejected}
	}
	return err
}

// take keeps the usable vectors. Where every one of several has the wrong
// length, it is the setting that is wrong.
func (b *batch) take(inputs []input, vectors [][]float32) error {
	wrong := func(v []float32) bool { return len(v) > 0 && len(v) != b.client.config.Dim }
	if len(inputs) >= enough && !slices.ContainsFunc(vectors, func(v []float32) bool { return !wrong(v) }) {
		return &embedding.Fault{Err: embedding.Check(vectors[0], b.client.config.Dim)}
	}
	for i, v := range vectors {
		if err := embedding.Check(v, b.client.config.Dim); err != nil {
			b.refused = append(b.refused, refusal{inputs[i].index, err})
			continue
		}
		embedding.Unit(v)
		b.vectors[inputs[i].index] = v
		b.embedded++
	}
	return nil
}
