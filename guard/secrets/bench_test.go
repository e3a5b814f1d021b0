package secrets

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zricethezav/gitleaks/v8/detect"
)

// pieces are texts of 4 KB: the project's own documents, and a Chinese one made
// of the sentences of the corpus that hold no secret.
func pieces(b *testing.B, chinese bool) []string {
	b.Helper()
	const size = 4096
	var text string
	if chinese {
		var all strings.Builder
		for all.Len() < 4*size {
			for _, s := range proseShapes() {
				if strings.HasPrefix(s.name, "chinese") {
					all.WriteString(strings.Join(s.in, "") + "\n")
				}
			}
		}
		text = all.String()
	} else {
		for _, path := range []string{"operations.md", "architecture.md", "format.md"} {
			data, err := os.ReadFile("../../docs/" + path)
			if err != nil {
				b.Fatal(err)
			}
			text += string(data)
		}
	}
	var all []string
	for len(text) > size {
		end := size
		for !utf8.RuneStart(text[end]) {
			end--
		}
		all = append(all, text[:end])
		text = text[end:]
	}
	return all
}

// The time of a scan of 4 KB as a multiple of that of the library's own
// detector, set as it would be without us (two decodings), in turns within one
// run. The target is 1.2 at most.
func BenchmarkAgainstLibrary(b *testing.B) {
	library, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		b.Fatal(err)
	}
	library.IgnoreGitleaksAllow = true
	library.MaxDecodeDepth = maxDecode
	s := New(Options{Key: []byte("k")})
	for _, language := range []string{"english", "chinese"} {
		texts := pieces(b, language == "chinese")
		s.Scan(texts[0])
		b.Run(language, func(b *testing.B) {
			var ours, theirs time.Duration
			n := 0
			for b.Loop() {
				text := texts[n%len(texts)]
				n++
				began := time.Now()
				s.Scan(text)
				middle := time.Now()
				library.DetectString(text)
				ours += middle.Sub(began)
				theirs += time.Since(middle)
			}
			b.ReportMetric(float64(ours)/float64(theirs), "ratio")
			b.ReportMetric(float64(ours.Nanoseconds())/float64(n)/1e6, "ms/scan")
			b.ReportMetric(float64(theirs.Nanoseconds())/float64(n)/1e6, "ms/library")
		})
	}
}

// Precision and recall of the corpus, as TestCorpus has them.
func BenchmarkCorpus(b *testing.B) {
	s := New(Options{Key: []byte("k")})
	tuned, heldOut := judge(b, s)
	for b.Loop() {
		tuned, heldOut = judge(b, s)
	}
	all := tuned.plus(heldOut)
	fmt.Fprintf(b.Output(), "tuned by: %v\nheld out: %v\nall: %v\n", tuned, heldOut, all)
	b.ReportMetric(all.recall(), "recall")
	b.ReportMetric(all.precision(), "precision")
}
