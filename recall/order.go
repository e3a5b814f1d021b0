package recall

import (
	"math"
	"strings"
	"time"

	"memd"
)

// The constants of the order (contract section 6). A score is a band of
// authority plus a relevance from 0 to (weightKeyword + weightLabels) x
// (1 + tiltMax + lendNext + lendSession), so that one number sorts the list:
// bands lie further apart than any relevance reaches. The 60 pairs of
// pairs_test.go and the sets of bench decide them; docs/adr/0003-recall-order.md
// says how.
const (
	bandLong      = 24 // a long row over the floor
	bandShort     = 18 // a short row, and a long row under the floor
	bandSession   = 12 // a note of the caller's own session
	bandArchive   = 6  // asked for
	bandNeighbour = 0  // matches nothing itself: below every own match
	staleSinks    = -3 // a stale row sinks below the fresh ones of its band

	weightKeyword = 1.0  // a query term in summary, why or how_to_apply
	weightLabels  = 0.3  // a query term in key, tags, kind, source or owner
	weightVector  = 0.02 // the likeness of the vectors, for what the text leaves open
	liftFrom      = 0.7  // share of the best row's relevance from which on the nearest vector is lifted
	liftTo        = 3    // the place of its band to which it is
	tiltMax       = 0.2  // what importance, recency, access and source add together

	// How the tilt is shared; the parts sum to 1.
	tiltImportance = 0.4
	tiltRecency    = 0.3 // short rows alone
	tiltAccess     = 0.15
	tiltSource     = 0.15

	// partWeighs is the share of its weight that a part of an identifier keeps
	// (sig and 47 of E_SIG_47) where an identifier of the query occurs whole.
	partWeighs = 0.2

	// charWeighs is the share that one character of a longer run keeps, whose
	// bigrams say more; stopWeighs that of a stop word, which also finds no row
	// by itself and is taken to stand in every second row.
	charWeighs = 0.5
	charsFrom  = 8 // characters of a query, stop words among them, from which on they count at all
	stopWeighs = 0.2

	// placeWeighs is how far a row counts, where a query has several sentences,
	// by its place among the places rows that answer one of them best.
	// clauseLeast is the share of the query's weight from which on a sentence
	// counts fully, so that an aside decides nothing.
	placeWeighs = 0.5
	places      = 8
	clauseLeast = 0.2

	// passageWeighs is how far a long row counts by its best passage of
	// passageChars code points, a third of them in scripts without spaces:
	// about 60 words.
	passageWeighs = 0.7
	passageChars  = 240

	// What a row borrows of the relevance of its session: of the best of the
	// rows next to it, or half as much of those beyond, and of the session's
	// best row.
	lendNext    = 0.4
	lendBeyond  = 0.2
	lendSession = 0.2

	// BM25 (Robertson and Zaragoza 2009): saturation and length.
	saturation = 1.2
	lengthBias = 0.4

	// The match floor: a long row is over it when it holds a term so rare, or
	// terms that carry so much of the query's weight.
	floorRare     = 0.02 // share of the corpus's rows
	floorRareFrom = 50   // rows from which rarity means something
	floorMass     = 0.5  // share of the idf of the query's terms that occur at all

	// vectorFloor is the cosine from which on a row is a match by its vector, of
	// static tables. The configuration has that of other providers.
	vectorFloor = 0.7

	// leastMatch is the least that a row scores which matches by itself.
	leastMatch = bandArchive + staleSinks

	recencyHalf = 168 // hours, a week, after which recency is worth half
	accessFull  = 16  // accesses that are worth the whole of tiltAccess
)

// Bounds of the work that one query may cause.
const (
	maxTerms    = 256     // distinct terms of a query; a Chinese one has two a character
	leastRead   = 16      // candidates of a tier that are read at a time, at least
	mostRead    = 256     // and at most
	keptFirst   = 512     // candidates of a tier that are kept at first; the rest is looked up again if need be
	looked      = 512     // rows whose texts are read at a time, where no index in memory tells their bounds
	maxScored   = 1000    // candidates of a tier that are read and scored at most: the depth of a recall
	maxExamined = 10000   // rows of a tier looked at to say what filters removed
	maxNear     = 100     // rows of a tier that are nearest
	maxLenders  = 200     // rows of a tier, the most relevant, that lend and borrow
	maxLent     = 50      // of these, the ones whose neighbours enter unmatched
	maxClauses  = 16      // sentences of a query; one with more counts as a whole
	maxCorpus   = 1 << 40 // rows; more is a forged cursor
)

// idf is the weight of a term that df of n rows hold. This form, rather than
// that of BM25, keeps the shared words of a store of a few rows from weighing
// next to nothing.
func idf(n, df int) float64 { return math.Log(1 + float64(n+1)/float64(df+1)) }

// likeness is what a cosine counts: nothing below zero, and no more than one
// where rounding left it a little above.
func likeness(cosine float64) float64 { return math.Min(1, math.Max(0, cosine)) }

// band is the authority of a row.
func band(t memd.Tier, overFloor bool) float64 {
	switch {
	case t == memd.Long && overFloor:
		return bandLong
	case t == memd.Long, t == memd.Short:
		return bandShort
	case t == memd.Transient:
		return bandSession
	default:
		return bandArchive
	}
}

// recency falls from 1 to 0 with the whole hours since a short row was
// written.
func recency(m *memd.Memory, hour memd.Time) float64 {
	if m.Tier != memd.Short {
		return 0
	}
	hours := math.Max(0, math.Floor(float64(hour.Sub(m.WrittenAt.Time))/float64(time.Hour)))
	return recencyHalf / (recencyHalf + hours)
}

// familiarity grows from 0 to 1 with the logarithm of the folded accesses.
func familiarity(m *memd.Memory) float64 {
	return math.Min(1, math.Log2(1+float64(m.AccessCount))/math.Log2(1+accessFull))
}

// sourceQuality grades how well a row says where it comes from.
func sourceQuality(m *memd.Memory) float64 {
	switch {
	case m.SourceStatus == memd.SourceOK && strings.Contains(m.Source, "#"):
		return 1
	case m.SourceStatus == memd.SourceOK:
		return 0.8
	case m.SourceStatus == memd.SourceUnchecked:
		return 0.5
	case m.SourceStatus == memd.SourceNone:
		return 0.3
	default: // missing, changed
		return 0
	}
}
