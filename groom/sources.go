package groom

import (
	"context"
	"slices"
	"sync"
	"time"

	"memd"
	"memd/guard/sources"
	"memd/store"
)

// look is a head, and what was found of its source.
type look struct {
	store.Seen
	kind   memd.Kind
	stale  bool
	reason memd.StaleReason
	found  sources.Found
}

// status is that of the source by now.
func (l *look) status() memd.SourceStatus { return l.found.After(l.Status, l.SourceHash) }

// renewal is the share of the fresh-for time after which a source that says what
// it said renews a verification: a tenth.
const renewal = 10

// renews reports whether the row can be taken for verified now: memd read what
// the source cites when it last was, and reads the same now.
func (r *run) renews(l *look) bool {
	return l.found.Status == memd.SourceOK && l.SourceHash != "" && l.found.Hash == l.SourceHash &&
		r.now.Sub(l.VerifiedAt.Time) >= r.freshFor(l)/renewal
}

func (r *run) freshFor(l *look) time.Duration { return r.store.Budgets().FreshFor(l.kind) }

// wanted is why the row should be marked stale, "" where it should not.
func (r *run) wanted(l *look) memd.StaleReason {
	switch l.status() {
	case memd.SourceMissing:
		return memd.StaleSourceMissing
	case memd.SourceChanged:
		return memd.StaleSourceChanged
	}
	if r.now.Sub(l.VerifiedAt.Time) > r.freshFor(l) && !r.renews(l) {
		return memd.StaleAge
	}
	return ""
}

// markStale marks live heads whose source is missing or says something else, or
// that nobody has verified for long, and takes the mark off the others.
func markStale(ctx context.Context, r *run) (p plan, err error) {
	if err := r.examine(ctx); err != nil {
		return p, err
	}
	return r.heedHeads(func(l *look) bool {
		reason := r.wanted(l)
		return l.stale != (reason != "") || l.reason != reason
	}, func(tx *store.Tx, l *look) (bool, error) { return tx.MarkStale(l.Seen, r.wanted(l)) }), nil
}

// checkSources notes what became of the sources of live heads, and renews the
// verification of those that say what they said when memd last read them.
func checkSources(ctx context.Context, r *run) (p plan, err error) {
	if err := r.examine(ctx); err != nil {
		return p, err
	}
	p = r.heedHeads(func(l *look) bool { return l.status() != l.Status || r.renews(l) },
		func(tx *store.Tx, l *look) (bool, error) {
			if r.renews(l) {
				return tx.MarkSource(l.Seen, l.status(), r.now, "groom")
			}
			return tx.MarkSource(l.Seen, l.status(), l.VerifiedAt, "")
		})
	p.then = func(ctx context.Context, _ *Pass) error {
		if r.urls == "" {
			return nil
		}
		return r.store.Update(ctx, func(tx *store.Tx) error { return tx.SetMeta(urlsKey, r.urls, r.now) })
	}
	return p, nil
}

// heedHeads plans to do something to some of the heads that were examined.
func (r *run) heedHeads(some func(*look) bool, do func(*store.Tx, *look) (bool, error)) plan {
	byID := map[string]*look{}
	var rows []store.Candidate
	for i := range r.heads {
		l := &r.heads[i]
		if !r.has(l.ID) && some(l) {
			byID[l.ID] = l
			rows = append(rows, store.Candidate{ID: l.ID, File: l.File, Tier: memd.Long, Namespace: l.Namespace, Key: l.Key})
		}
	}
	return plan{steps: []step{{rows: rows, do: func(tx *store.Tx, c store.Candidate) (bool, error) { return do(tx, byID[c.ID]) }}}}
}

// Of pages, which keep whoever asks waiting: how many one run fetches, and how
// many at a time.
const (
	pagesPerRun = 200
	pagesAtOnce = 8
)

// urlsKey is where a run that fetched as many pages as it may notes the last, by the
// first head that rests on it.
const urlsKey = "groom_urls_after"

// examine looks, once a run, at the sources of all live heads that were ever
// verified, outside any reading or write. Of URLs it looks at those of some pages,
// where the last run stopped; a dry run at none.
func (r *run) examine(ctx context.Context) error {
	if r.heads != nil {
		return nil
	}
	heads := []look{}
	var after string
	err := r.store.View(ctx, func(v *store.View) (err error) {
		if after, err = v.Meta(urlsKey); err != nil {
			return err
		}
		return v.EachHead(func(m memd.Memory, h store.Head) error {
			if m.VerifiedAt.IsZero() || !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(r.now.Time) {
				return nil
			}
			heads = append(heads, look{Seen: store.Seen{ID: m.ID, File: h.File, Namespace: m.Namespace, Key: m.MemoryKey,
				Source: m.Source, Status: m.SourceStatus, VerifiedAt: m.VerifiedAt, SourceHash: h.SourceHash},
				kind: m.Kind, stale: m.Stale, reason: m.StaleReason})
			return nil
		})
	})
	if err != nil {
		return err
	}
	var pages pages
	for i := range heads {
		l := &heads[i]
		if page := sources.Page(l.Source); page != "" {
			pages.add(page, l)
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		l.found = r.sources.File(l.Namespace, l.Source)
	}
	if !r.opts.DryRun {
		r.fetch(ctx, pages.all, after)
	}
	r.heads = heads
	return ctx.Err()
}

// pages are the pages that heads rest on, in the order of the first head of each.
type pages struct {
	all []*page
	by  map[string]*page
}

// page is a page, by its URL, and the heads that rest on it.
type page struct {
	url   string
	heads []*look
}

func (p *pages) add(url string, l *look) {
	one := p.by[url]
	if one == nil {
		one = &page{url: url}
		p.all = append(p.all, one)
		if p.by == nil {
			p.by = map[string]*page{}
		}
		p.by[url] = one
	}
	one.heads = append(one.heads, l)
}

func (p *page) place() string { return p.heads[0].place() }

// fetch looks at pages, each once, beginning after the one that the last run ended
// with.
func (r *run) fetch(ctx context.Context, all []*page, after string) {
	if len(all) > pagesPerRun {
		first := slices.IndexFunc(all, func(p *page) bool { return p.place() > after })
		all = slices.Concat(all[max(first, 0):], all[:max(first, 0)])[:pagesPerRun]
		r.urls = all[pagesPerRun-1].place()
	}
	todo := make(chan *page)
	var done sync.WaitGroup
	for range min(pagesAtOnce, len(all)) {
		done.Go(func() {
			for p := range todo {
				cited := make([]string, len(p.heads))
				for i, l := range p.heads {
					cited[i] = l.Source
				}
				for i, found := range r.sources.LookOn(ctx, p.url, cited) {
					p.heads[i].found = found
				}
			}
		})
	}
	for _, p := range all {
		todo <- p
	}
	close(todo)
	done.Wait()
}

// place is where a head comes among all, by namespace and key.
func (l *look) place() string { return l.Namespace + " " + l.Key }
