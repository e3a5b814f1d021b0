package static

import (
	"math"
	"math/rand/v2"
	"sort"
)

// smooth is the a of the weight a/(a+p) of a word of frequency p.
const smooth = 1e-3

// Size of the sample that stands for texts, since there are none to look at:
// bags of words drawn by their frequency.
const (
	sampleTexts = 2000
	sampleWords = 12
	rounds      = 30 // of the power iteration
)

// removed is the share of the common component that is taken off. All of it, as
// the paper has it, costs questions in everyday words more than it gives others.
const removed = 0.7

// A table smaller than this has no component taken off: its sample would say
// more of these words than of the language.
const (
	leastWords = 500
	leastDim   = 16
)

// weigh gives the words their weights by their rank among n and finds the
// direction that texts of them share.
func (c *conversion) weigh(ranks []uint32, n int) error {
	p := zipf(n)
	for i := range c.w.words {
		c.w.words[i].factor *= float32(smooth / (smooth + p[ranks[i]]))
	}
	if len(c.w.words) < leastWords || c.w.dim < leastDim {
		return nil
	}
	sample, err := c.w.sample(ranks, p)
	if err != nil {
		return err
	}
	c.component = principal(sample, c.w.dim)
	scale(c.component, math.Sqrt(removed))
	return nil
}

// zipf estimates the frequencies of n words by their rank (Zipf and
// Mandelbrot; they add up to 1).
func zipf(n int) []float64 {
	p := make([]float64, n)
	var sum float64
	for i := range p {
		p[i] = 1 / (float64(i) + 2.7)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// sample draws texts and returns their vectors at unit length, one after the
// other. It is the same for the same table.
func (w *writer) sample(ranks []uint32, p []float64) ([]float32, error) {
	if err := w.out.Flush(); err != nil {
		return nil, err
	}
	upTo := make([]float64, len(ranks)) // sum of the frequencies of the words so far
	var total float64
	for i, rank := range ranks {
		total += p[rank]
		upTo[i] = total
	}
	rng := rand.New(rand.NewPCG(1, 2))
	sample := make([]float32, sampleTexts*w.dim)
	v := make([]float32, w.dim)
	for text := range sampleTexts {
		sum := sample[text*w.dim:][:w.dim]
		for range sampleWords {
			i := min(sort.SearchFloat64s(upTo, rng.Float64()*total), len(upTo)-1)
			if err := w.vector(v, w.words[i]); err != nil {
				return nil, err
			}
			for j, x := range v {
				sum[j] += x
			}
		}
		if n := length(sum); n > 0 {
			scale(sum, 1/n)
		}
	}
	return sample, nil
}

// principal is the unit vector along which the rows of sample lie most, by
// power iteration, nil if there is none.
func principal(sample []float32, dim int) []float32 {
	u := make([]float32, dim)
	for i, x := range sample {
		u[i%dim] += x
	}
	next := make([]float32, dim)
	for range rounds {
		n := length(u)
		if n == 0 || math.IsNaN(n) || math.IsInf(n, 0) {
			return nil
		}
		scale(u, 1/n)
		clear(next)
		for i := 0; i < len(sample); i += dim {
			row := sample[i : i+dim]
			along := float32(dot(row, u))
			for j, x := range row {
				next[j] += along * x
			}
		}
		u, next = next, u
	}
	n := length(u)
	if n == 0 {
		return nil
	}
	scale(u, 1/n)
	return u
}

func scale(v []float32, by float64) {
	for i, x := range v {
		v[i] = float32(float64(x) * by)
	}
}
