package recall

import "slices"

// lift is what a row gained because its vector is the nearest.
type lift struct {
	ID string  `json:"i"`
	By float64 `json:"b"`
}

// lifts finds in each band of sorted rows the nearest of those whose words
// answer about as much as the best row's, and what it lacks to stand
// at liftTo. A weak model so adds a row to the first ones, and
// takes no place from the very first.
func lifts(sorted []*scored) []lift {
	found := []lift{}
	for len(sorted) > 0 {
		end := 1
		for end < len(sorted) && standsWith(sorted[0], sorted[end]) {
			end++
		}
		band := sorted[:end]
		sorted = sorted[end:]
		if near := nearest(band); near != nil && len(band) >= liftTo && order(band[liftTo-1], near) < 0 {
			found = append(found, lift{near.memory.ID, above(band, liftTo-1) - near.score})
		}
	}
	return found
}

// above is a score before the row at a place and all that tie with it, behind
// the first; their own where all from the first on tie.
func above(band []*scored, place int) float64 {
	score := band[place].score
	for place > 0 && band[place-1].score == score {
		place--
	}
	if place == 0 {
		return score
	}
	return (band[place-1].score + score) / 2
}

// standsWith reports whether two rows are in one band, both fresh or both stale.
func standsWith(a, b *scored) bool {
	return a.parts.Authority == b.parts.Authority && a.parts.Stale == b.parts.Stale
}

// nearest is the row of a band with the largest cosine, of those that come near
// the best by their own relevance; nil where none has a vector. Of equal ones it
// is the first.
func nearest(band []*scored) *scored {
	best := 0.0
	for _, s := range band {
		best = max(best, s.own)
	}
	var near *scored
	for _, s := range band {
		if s.own >= liftFrom*best && s.cosine > 0 && (near == nil || s.cosine > near.cosine) {
			near = s
		}
	}
	return near
}

// lift applies a plan's lifts to rows. A cursor carries them: another row may be
// the nearest by the next page.
func (p *plan) lift(rows []*scored) {
	sorted := slices.Clone(rows)
	sortScored(sorted)
	if p.lifts == nil {
		p.lifts = lifts(sorted)
	}
	for _, l := range p.lifts {
		for _, s := range sorted {
			if s.memory.ID == l.ID {
				s.parts.Vector += l.By
				s.score = s.parts.Sum()
			}
		}
	}
}
