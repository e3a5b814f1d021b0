package bench

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Shape of the made-up rows. Words are drawn by a Zipf-Mandelbrot law, under
// which, as in English, about every twentieth word is the commonest one and
// half of a row is function words.
const (
	rowWords   = 60
	vocabulary = 30000
	zipfS      = 1.07
	zipfV      = 2.7
)

// functionWords take the first ranks of the vocabulary.
var functionWords = strings.Fields(`the of and to a in is that it was for on with as be at by this have from
or had not but what all were when we there can an your which their said if do will each about how up out
them then she many some so these would other into has more her two like him see time could no make than
first been its who now people my made over did down only way find use may long little very after words
called just where most know get through back much before go good new write our used me man too any day
same right look think also around another came come work three word must because does part even place well`)

// words returns the vocabulary, the commonest first: function words, then
// pronounceable made-up ones, all distinct.
func words() []string {
	onsets := strings.Fields("b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w")
	vowels := strings.Fields("a e i o u ai ea ee ie oa oo ou")
	codas := strings.Fields("b ck d ft g l ld lt m mp n nd ng nt p r rd rk rm rn rt s sk st t th x")
	rng := rand.New(rand.NewPCG(1, 1))
	pick := func(from []string) string { return from[rng.IntN(len(from))] }

	list := append(make([]string, 0, vocabulary), functionWords...)
	seen := make(map[string]bool, vocabulary)
	for _, w := range list {
		seen[w] = true
	}
	for len(list) < vocabulary {
		w := pick(onsets) + pick(vowels)
		for range rng.IntN(2) + len(list)/12000 { // rare words are longer
			w += pick(onsets) + pick(vowels)
		}
		if w += pick(codas); !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

// makeRows returns n texts of English-like sentences, about 60 words each and
// all different. They are the same in every run, and a longer list begins as a
// shorter one does.
func makeRows(n int) []string {
	list := words()
	rng := rand.New(rand.NewPCG(2, 2))
	zipf := rand.NewZipf(rng, zipfS, zipfV, vocabulary-1)
	rows := make([]string, n)
	for i := range rows {
		var b strings.Builder
		length := rowWords - 15 + rng.IntN(31)
		sentence := 0 // words of the sentence under way
		for j := range length {
			w := list[zipf.Uint64()]
			if sentence == 0 {
				w = strings.ToUpper(w[:1]) + w[1:]
			}
			b.WriteString(w)
			sentence++
			switch {
			case j == length-1, sentence >= 8 && rng.IntN(8) == 0:
				b.WriteString(". ")
				sentence = 0
			default:
				b.WriteByte(' ')
			}
		}
		rows[i] = strings.TrimSpace(b.String())
	}
	return rows
}

func TestMakeRows(t *testing.T) {
	rows := makeRows(500)
	seen := map[string]bool{}
	total := 0
	for i, row := range rows {
		if seen[row] {
			t.Errorf("row %d is there twice", i)
		}
		seen[row] = true
		total += len(strings.Fields(row))
	}
	if mean := float64(total) / 500; mean < 55 || mean > 65 {
		t.Errorf("a row has %.1f words on average, want about %d", mean, rowWords)
	}
	if again := makeRows(20); strings.Join(again, "\n") != strings.Join(rows[:20], "\n") {
		t.Error("a shorter list is not the beginning of a longer one")
	}
}
