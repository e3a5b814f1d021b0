package watch

import (
	"maps"
	"slices"
	"time"
)

// maxPaths is how many files are named; beyond it all may have changed.
const maxPaths = 10_000

// pending are changes that nobody was told of yet.
type pending struct {
	all         bool
	paths       map[string]bool
	first, last time.Time // of the changes
}

func (p *pending) any() bool { return p.all || len(p.paths) > 0 }

// add notes that a file may have changed.
func (p *pending) add(path string, now time.Time) {
	if !p.any() {
		p.first = now
	}
	p.last = now
	switch {
	case p.all:
	case len(p.paths) == maxPaths && !p.paths[path]:
		p.all, p.paths = true, nil
	case p.paths == nil:
		p.paths = map[string]bool{path: true}
	default:
		p.paths[path] = true
	}
}

// when is the time at which they are told. There must be any.
func (p *pending) when(o Options) time.Time {
	quiet, most := p.last.Add(o.Quiet), p.first.Add(o.AtMost)
	if most.Before(quiet) {
		return most
	}
	return quiet
}

func (p *pending) due(o Options, now time.Time) bool { return p.any() && !now.Before(p.when(o)) }

func (p *pending) take() Changes {
	c := Changes{All: p.all, Paths: slices.Sorted(maps.Keys(p.paths))}
	*p = pending{}
	return c
}
