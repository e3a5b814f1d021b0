package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"memd"
	"memd/api"
	"memd/configs"
	"memd/embedding"
	"memd/groom"
	"memd/guard"
	"memd/internal/dirlock"
	"memd/internal/regular"
	"memd/internal/schedule"
)

// flushEvery is how often counted accesses and refusals are written. They are
// advice; what a crash takes is at most this much of them.
const flushEvery = 5 * time.Second

// serve runs the daemon until ctx is done, nobody used it for idle (0: whatever
// the use), or something it needs fails. Every goroutine it starts has ended, and
// the socket is gone, when it returns.
func (a *app) serve(ctx context.Context, idle time.Duration) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	tokens, err := guard.Open(a.cfg.Dir, a.log)
	if err != nil {
		return err
	}
	if err := a.adopt(ctx, tokens); err != nil {
		return err
	}
	backups, err := a.backups()
	if err != nil {
		return err
	}
	grooms, err := groom.Jobs(a.runner, a.cfg.Groom, time.Now)
	if err != nil {
		return err
	}
	a.runner.WithLife(ctx)
	secured, err := a.tls()
	if err != nil {
		return err
	}
	listeners, err := a.listen()
	if err != nil {
		return err
	}
	ready := []any{"socket", listeners[0].Addr().String()}
	if len(listeners) > 1 {
		ready = append(ready, "tcp", listeners[1].Addr().String(), "tls", secured != nil)
	}
	a.log.Info("memd listens", append(ready, "dir", a.cfg.Dir, "version", thisBuild().Version)...)

	loops, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { a.flush(loops, tokens) })
	running.Go(func() { groom.Keep(loops, time.Now, a.log, backups) })
	running.Go(func() { groom.Keep(loops, time.Now, a.log, grooms...) })
	running.Go(func() { a.index(loops) })
	stopEmbedding := a.embed(ctx)
	server := a.server(tokens, secured)
	if idle > 0 {
		running.Go(func() {
			if server.Idle(loops, idle) {
				a.log.Info("memd leaves, for nobody used it", "idle", idle)
				leave()
			}
		})
	}
	err = server.Serve(ctx, listeners...)
	stop()
	stopEmbedding()
	running.Wait()
	if err == nil {
		a.log.Info("memd ends")
	}
	return err
}

// adopt keeps sessions of an earlier release with the tokens that opened them.
func (a *app) adopt(ctx context.Context, tokens *guard.Tokens) error {
	list, err := tokens.List()
	if err != nil {
		return err
	}
	return a.tiers.Adopt(ctx, list)
}

// index has the keyword indexes made before the first question asks for them, and
// gives back what that took beside them.
func (a *app) index(ctx context.Context) {
	if err := a.store.Index(ctx); err != nil && ctx.Err() == nil {
		a.log.Warn("keyword index not made yet; sqlite's answers", "error", err)
	}
	debug.FreeOSMemory()
}

// embed has rows given their vectors, where there is an embedder, until the
// function that it returns is called.
func (a *app) embed(ctx context.Context) (stop func()) {
	if a.embedder == nil {
		return func() {}
	}
	switch model, dim := a.store.Before(); {
	case a.previous.Embedder != nil:
		a.log.Info("the previous embedder serves until half of the vectors are new", "model", model, "dim", dim)
	case model != "":
		a.log.Warn("the previous embedder cannot be opened; rows are found by words alone until their vectors are new", "model", model, "dim", dim)
	}
	return embedding.Start(ctx, a.embedder, a.store, a.cfg.Embedding.Batch, a.log).Stop
}

// listen opens the socket and, unless it is off, the TCP address. Serving
// closes them; where one cannot be opened none stays open.
func (a *app) listen() ([]net.Listener, error) {
	unix, err := a.listenUnix()
	if err != nil {
		return nil, err
	}
	if a.cfg.Listen == configs.ListenOff {
		return []net.Listener{unix}, nil
	}
	tcp, err := api.ListenTCP(a.cfg.Listen)
	if err != nil {
		return nil, errors.Join(err, unix.Close())
	}
	return []net.Listener{unix, tcp}, nil
}

// listenUnix opens the socket, to everyone where the configuration says who may
// use it. Others then pass the data folder without seeing what is in it.
func (a *app) listenUnix() (net.Listener, error) {
	path := filepath.Join(a.cfg.Dir, dirlock.SocketName)
	if len(a.cfg.Socket.Peers) == 0 {
		return api.ListenUnix(path)
	}
	info, err := os.Stat(a.cfg.Dir)
	if err == nil && info.Mode().Perm()&sharedDir != sharedDir {
		err = os.Chmod(a.cfg.Dir, sharedDir)
	}
	if err != nil {
		return nil, &memd.Error{
			Code: memd.CodeStoreFailed, Field: "socket.peers", Err: err,
			Message: "other users cannot be let into " + a.cfg.Dir, Hint: "the user that runs memd must own the folder, or its owner chmod 0711 it",
		}
	}
	return api.ListenShared(path)
}

// tls is what TCP is served with, nil for plain HTTP.
func (a *app) tls() (*tls.Config, error) {
	if a.cfg.TLS.Cert == "" || a.cfg.Listen == configs.ListenOff {
		return nil, nil
	}
	cert, err := regular.ReadFile(a.cfg.TLS.Cert)
	key, failed := regular.ReadFile(a.cfg.TLS.Key)
	err = errors.Join(err, failed)
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.X509KeyPair(cert, key)
	}
	if err != nil {
		return nil, &memd.Error{
			Code: memd.CodeInvalidRequest, Field: "tls.cert", Err: err,
			Message: "tls.cert and tls.key cannot be used", Hint: "both are PEM files, and the key is the certificate's",
		}
	}
	for _, f := range looseKey(a.cfg.TLS.Key) {
		a.log.Warn("configuration", "warning", f.Detail, "fix", f.Fix)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// flush writes what is buffered, and notes changed tokens and allowances, until ctx is done; the
// rest is written when the store closes.
func (a *app) flush(ctx context.Context, tokens *guard.Tokens) {
	if err := a.tiers.NoticeConfig(ctx, a.cfg.Entries()); err != nil && ctx.Err() == nil {
		a.log.Error("changes of the configuration not logged", "error", err)
	}
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		a.notice(ctx, tokens)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := a.store.Flush(ctx); err != nil && ctx.Err() == nil {
				a.log.Error("accesses and refusals not written", "error", err)
			}
		}
	}
}

// backups is the job that makes backups by the schedule of the configuration.
func (a *app) backups() (groom.Job, error) {
	job := groom.Job{
		Name: "backup",
		Last: func(ctx context.Context) (time.Time, error) {
			at, err := a.store.LastBackup(ctx)
			return at.Time, err
		},
		Do: func(ctx context.Context) error {
			b, err := a.store.Backup(ctx, "")
			for _, w := range b.Warnings {
				a.log.Warn("backup", "path", b.Path, "warning", w)
			}
			return err
		},
	}
	if a.cfg.Backup.Schedule == "" {
		return job, nil
	}
	var err error
	job.Schedule, err = schedule.Parse(a.cfg.Backup.Schedule)
	return job, err
}
