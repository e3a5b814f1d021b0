// Package groom keeps a store trustworthy: it expires, archives, prunes, looks
// at sources, folds accesses into their counts, indexes anew what was edited by
// hand, and gives space back. A pass plans first and then runs over the same
// predicate, so that a dry run tells the truth; each batch is one write in one
// database; a report carries counts and ids, and never a body.
package groom
