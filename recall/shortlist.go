package recall

import "slices"

// shortlist keeps the candidates with the highest bounds, about as many as
// wanted: those that have one bound are kept or left out together.
type shortlist struct {
	keep int         // how many are wanted
	heap []candidate // the least bound on top
	cut  float64     // the highest bound that was left out, 0 for none
}

// wants reports whether a candidate with such a bound may be kept.
func (l *shortlist) wants(bound float64) bool {
	if len(l.heap) < l.keep || bound > l.heap[0].bound {
		return true
	}
	l.cut = max(l.cut, bound)
	return false
}

// add keeps a candidate that is wanted, in place of the least if need be.
func (l *shortlist) add(c candidate) {
	if len(l.heap) < l.keep {
		l.heap = append(l.heap, c)
		for i := len(l.heap) - 1; i > 0 && l.heap[i].bound < l.heap[(i-1)/2].bound; i = (i - 1) / 2 {
			l.heap[i], l.heap[(i-1)/2] = l.heap[(i-1)/2], l.heap[i]
		}
		return
	}
	l.cut = max(l.cut, l.heap[0].bound)
	l.heap[0] = c
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(l.heap); child++ {
			if l.heap[child].bound < l.heap[least].bound {
				least = child
			}
		}
		if least == i {
			return
		}
		l.heap[i], l.heap[least] = l.heap[least], l.heap[i]
		i = least
	}
}

// sorted returns what was kept, the highest bound first, and the highest that
// was left out, 0 for none.
func (l *shortlist) sorted() (kept []candidate, cut float64) {
	slices.SortFunc(l.heap, candidate.compare)
	for n := len(l.heap); n > 0 && l.heap[n-1].bound <= l.cut; n = len(l.heap) {
		l.heap = l.heap[:n-1]
	}
	return l.heap, l.cut
}
