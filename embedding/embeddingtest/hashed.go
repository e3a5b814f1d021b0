package embeddingtest

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"memd/embedding"
)

// Hashed is an embedder without a model: texts are alike as far as they share
// words. Its vectors are the same on every machine and in every run.
type Hashed struct {
	Name string // the model's; it moves the vectors too
	Size int    // the vectors' length
}

// Model returns the name.
func (h Hashed) Model() string { return h.Name }

// Dim returns the size.
func (h Hashed) Dim() int { return h.Size }

// Embed adds up a random vector for each word. A text without words has none.
func (h Hashed) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return vectors, err
		}
		var sum []float32
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			if sum == nil {
				sum = make([]float32, h.Size)
			}
			seed := fnv.New64a()
			seed.Write([]byte(h.Name + " " + word))
			rng := rand.New(rand.NewPCG(seed.Sum64(), 0))
			for i := range sum {
				sum[i] += float32(rng.NormFloat64())
			}
		}
		if sum != nil {
			embedding.Unit(sum)
		}
		vectors = append(vectors, sum)
	}
	return vectors, nil
}
