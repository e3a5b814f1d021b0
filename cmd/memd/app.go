package main

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"sync"
	"time"

	"memd/api"
	"memd/configs"
	"memd/embedding"
	"memd/groom"
	"memd/guard"
	"memd/guard/fence"
	"memd/guard/sources"
	"memd/internal/dirlock"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// app is an open store in a data folder that this process owns.
type app struct {
	cfg     *configs.Loaded
	log     *slog.Logger
	lock    *dirlock.Lock
	store   *store.Set
	runner  *groom.Runner
	sources *sources.Checker
	tiers   *tiers.Service
	allowed *guard.Allowed

	embedder embedding.Embedder // nil for none
	selector recall.Selector    // nil for none
	release  func() error       // of both
	previous previous

	noticing sync.Mutex // a change is noticed once
}

// openApp takes the data folder, waiting for it as long as it may, and opens
// what is in it. The caller must close the app.
func openApp(ctx context.Context, cfg *configs.Loaded, log *slog.Logger, wait time.Duration, why purpose) (*app, error) {
	lock, err := dirlock.Acquire(ctx, cfg.Dir, wait, dirlock.Options{AllowNetworkFS: cfg.AllowNetworkFS})
	if err != nil {
		return nil, err
	}
	if w := lock.Warning(); w != "" {
		log.Warn("data folder", "warning", w)
	}
	embedder, closeEmbedder, err := openEmbedder(cfg)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	selector, closeSelector, err := openSelector(cfg)
	if err != nil {
		return nil, errors.Join(err, closeEmbedder(), lock.Release())
	}
	release := func() error { closeSelector(); return closeEmbedder() }
	allowed, err := guard.OpenAllowed(cfg.Dir, log)
	if err != nil {
		return nil, errors.Join(err, release(), lock.Release())
	}
	set, err := store.Open(ctx, store.Options{
		Dir: cfg.Dir, Budgets: cfg.Budgets, Log: log, Version: thisBuild().Version, KeepBackups: cfg.Backup.Keep,
		Embedder: embedder, Key: allowed.Key(), AsItIs: why == toRead,
	})
	if err != nil {
		return nil, errors.Join(err, release(), lock.Release())
	}
	model, dim := set.Before()
	before := openPrevious(cfg, model, dim)
	looking := checker(cfg)
	service := tiers.New(set).WithOwners(cfg.Owners).WithSources(looking).WithGuard(cfg.Guard).WithAllowed(allowed).WithDates(cfg.Dates)
	if cfg.Embedding.Provider == configs.ProviderOpenAI {
		embedder, before = embedding.Cleaned(embedder, service.Leaving), before.cleaned(service.Leaving)
	}
	return &app{cfg: cfg, log: log, lock: lock, store: set, tiers: service, allowed: allowed, sources: looking, runner: groom.New(set, log).WithSources(looking), embedder: embedder, selector: selector, release: release, previous: before}, nil
}

// server wires the parts over the store. Without tokens it answers this
// process alone. secured is what TCP is served with, nil for plain HTTP.
func (a *app) server(tokens *guard.Tokens, secured *tls.Config) *api.Server {
	return api.New(api.Options{
		Tiers:    a.tiers,
		Recall:   a.recall(),
		Groom:    a.runner,
		Audit:    a.audit(),
		Store:    a.store,
		Tokens:   tokens,
		Hosts:    a.cfg.HostNames(),
		AuthNone: a.cfg.Auth == configs.AuthNone,
		TLS:      secured, TLSElsewhere: a.cfg.TLS.TerminatedElsewhere,
		Peers:   a.cfg.Socket.Callers(),
		Notice:  func(ctx context.Context) { a.notice(ctx, tokens) },
		Limits:  a.cfg.Limits,
		Fence:   a.fence(),
		Version: thisBuild().Version,
		Log:     a.log,
		Now:     time.Now,
	})
}

// audit goes through the checklist. Its recalls, one for each long row, ask no
// server: neither the selector, which only reorders a tier, nor an embedder.
func (a *app) audit() *groom.Auditor {
	return groom.NewAuditor(groom.AuditorOptions{
		Store: a.store, Sources: a.sources, Owners: a.cfg.Owners, Recall: recall.New(a.store, a.log).Recall,
		Scan: a.tiers.Findings,
	})
}

// recall is the engine with the vectors and the selector of the configuration.
func (a *app) recall() *recall.Engine {
	e := recall.New(a.store, a.log).WithEmbedder(a.embedder, 0).WithSelector(a.selector).WithLeaving(a.tiers.Leaving).WithSources(a.sources).WithGuards(a.tiers.Guards).
		WithFence(a.fence())
	if a.embedder != nil {
		e.WithFloor(a.cfg.Embedding.FloorOf(a.cfg.Embedding.Provider))
	}
	return e.WithPrevious(a.previous.Embedder, a.previous.floor)
}

// fence is how stored text is made harmless to a model.
func (a *app) fence() fence.Rules {
	return fence.Rules{KeepLinks: a.cfg.Guard.Links == configs.LinksKeep}
}

// checker looks at what memories rest on: in the folders of the configuration and,
// where it says so, at URLs.
func checker(cfg *configs.Loaded) *sources.Checker {
	c := sources.New(cfg.Roots)
	if cfg.Groom.CheckURLs {
		c = c.WithURLs(sources.URLTimeout)
	}
	return c
}

// close lets go of everything, the folder last.
func (a *app) close() error {
	return errors.Join(a.store.Close(), a.release(), a.previous.close(), a.lock.Release())
}
