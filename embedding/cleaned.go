package embedding

import "context"

// Cleaned returns an Embedder that hands e no text but as clean leaves it: for one
// that sends its texts away. Its Model is e's, for what clean takes out is of no use
// to a vector.
func Cleaned(e Embedder, clean func(text string) string) Embedder { return cleaned{e, clean} }

type cleaned struct {
	Embedder
	clean func(string) string
}

func (c cleaned) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	sent := make([]string, len(texts))
	for i, text := range texts {
		sent[i] = c.clean(text)
	}
	return c.Embedder.Embed(ctx, sent)
}
