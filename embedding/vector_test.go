package embedding_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"memd/embedding"
)

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		v    []float32
		dim  int
		want error
	}{
		{"good", []float32{0.6, -0.8}, 2, nil},
		{"not of unit length", []float32{60, -80}, 2, nil},
		{"the largest numbers", []float32{math.MaxFloat32, -math.MaxFloat32}, 2, nil},
		{"short", []float32{1}, 2, embedding.ErrLength},
		{"long", []float32{1, 0, 0}, 2, embedding.ErrLength},
		{"nil", nil, 2, embedding.ErrLength},
		{"of nothing", nil, 0, embedding.ErrLength},
		{"NaN", []float32{1, nan}, 2, embedding.ErrNotFinite},
		{"Inf", []float32{inf, 1}, 2, embedding.ErrNotFinite},
		{"-Inf", []float32{-inf, 1}, 2, embedding.ErrNotFinite},
		{"zero", []float32{0, 0}, 2, embedding.ErrZero},
		{"next to zero", []float32{1e-20, math.SmallestNonzeroFloat32}, 2, embedding.ErrZero},
	} {
		if err := embedding.Check(c.v, c.dim); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// Any vector that passes Check is brought to unit length, and keeps its direction.
func TestUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32(), 1, 40).Draw(t, "v")
		if embedding.Check(v, len(v)) != nil {
			t.Skip("no vector")
		}
		u := slices.Clone(v)
		embedding.Unit(u)
		if length := math.Sqrt(dot(u, u)); math.Abs(length-1) > 1e-5 {
			t.Fatalf("length %v", length)
		}
		if cos := dot(u, v) / math.Sqrt(dot(v, v)); math.Abs(cos-1) > 1e-5 {
			t.Fatalf("cosine with what it was: %v", cos)
		}
	})
}

func TestInt8(t *testing.T) {
	got := embedding.Int8([]float32{0.5, -0.5, 0, 0.25, -0.001, 0.3})
	want := []int8{127, -127, 0, 64, 0, 76}
	for i, b := range got {
		if int8(b) != want[i] {
			t.Errorf("number %d: %d, want %d", i, int8(b), want[i])
		}
	}
	if got := embedding.Int8(make([]float32, 3)); !slices.Equal(got, make([]byte, 3)) {
		t.Errorf("of zero: %v", got)
	}
	if got := embedding.Int8([]float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}); !slices.Equal(got, []byte{127, 129, 0}) {
		t.Errorf("of the largest: %v", got)
	}
}

// The cosine of quantised vectors is that of the vectors, to a few thousandths.
func TestInt8KeepsCosines(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for range 200 {
		a, b := random(rng, 256), random(rng, 256)
		for i := range b {
			b[i] += a[i] * rng.Float32() * 2
		}
		want := dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b))
		qa, qb := signed(embedding.Int8(a)), signed(embedding.Int8(b))
		got := dot(qa, qb) / math.Sqrt(dot(qa, qa)*dot(qb, qb))
		if math.Abs(got-want) > 0.004 {
			t.Errorf("cosine %v, of the vectors %v", got, want)
		}
	}
}

func TestBits(t *testing.T) {
	v := []float32{1, -1, 0.1, 0, float32(math.Copysign(0, -1)), 1e-30, -1e-30, 2, -3, 4}
	if got, want := embedding.Bits(v), []byte{0b10100101, 0b00000010}; !slices.Equal(got, want) {
		t.Errorf("Bits = %08b, want %08b", got, want)
	}
	if got := embedding.Bits(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestRefusedText(t *testing.T) {
	err := &embedding.Refused{Texts: map[int]error{7: embedding.ErrZero, 3: embedding.ErrNotFinite}}
	if got, want := err.Error(), "2 vectors refused, the first because "+embedding.ErrNotFinite.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func random(rng *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func signed(b []byte) []float32 {
	v := make([]float32, len(b))
	for i, x := range b {
		v[i] = float32(int8(x))
	}
	return v
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
