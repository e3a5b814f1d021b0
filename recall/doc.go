// Package recall finds the memories that bear on a text and puts them in
// order: authority before similarity, and the same order every time.
//
// A query goes one way: normalise, gather candidates from the keyword index
// with scope and filters inside the search, score them against corpus-wide
// statistics, rank, page, answer with reasons. The constants of the order
// stand in order.go. A [Selector], if there is one, moves a few rows to the front
// of their tiers before the page is cut. A context is assembled from the same ranking under a
// budget of characters.
package recall
