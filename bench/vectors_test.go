//go:build !memd_cgo

package bench

import (
	"bytes"
	"database/sql"
	"math"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"testing"

	"memd/embedding"
	_ "memd/store" // registers SQLite with sqlite-vec; the second build does so only once a store is open
)

// The bytes that package embedding makes of vectors are those of sqlite-vec,
// which only an SQLite can tell.
func TestVectorsAsSqliteVec(t *testing.T) {
	file := url.URL{Path: filepath.ToSlash(filepath.Join(t.TempDir(), "vec.db"))}
	db, err := sql.Open(sql.Drivers()[0], "file:"+file.EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rng := rand.New(rand.NewPCG(8, 8))
	for _, dim := range []int{8, 64, 104, 256} {
		a, b := make([]float32, dim), make([]float32, dim)
		for i := range a {
			a[i], b[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		}
		a[3], b[5] = 0, float32(math.Copysign(0, -1))
		var bits []byte
		if err := db.QueryRow(`SELECT vec_quantize_binary(?)`, floats(a)).Scan(&bits); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bits, embedding.Bits(a)) {
			t.Errorf("%d numbers: sqlite-vec makes other bits", dim)
		}
		var cosine, distance float64
		err := db.QueryRow(`SELECT vec_distance_cosine(vec_int8(?), vec_int8(?)), vec_distance_hamming(vec_bit(?), vec_bit(?))`,
			embedding.Int8(a), embedding.Int8(b), embedding.Bits(a), embedding.Bits(b)).Scan(&cosine, &distance)
		if err != nil {
			t.Fatal(err)
		}
		var dot, aa, bb, differ float64
		for i := range a {
			dot += float64(a[i]) * float64(b[i])
			aa += float64(a[i]) * float64(a[i])
			bb += float64(b[i]) * float64(b[i])
			if (a[i] > 0) != (b[i] > 0) {
				differ++
			}
		}
		if want := 1 - dot/math.Sqrt(aa*bb); math.Abs(cosine-want) > 0.01 || distance != differ {
			t.Errorf("%d numbers: distances %v and %v, want %v and %v", dim, cosine, distance, want, differ)
		}
	}
}

// floats is a vector as sqlite-vec reads it by default.
func floats(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		u := math.Float32bits(x)
		out = append(out, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return out
}
