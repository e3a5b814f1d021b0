package bench

import (
	"context"
	"errors"
	"math"
	"path/filepath"

	"memd/api"
	"memd/api/client"
	"memd/configs"
	"memd/embedding"
	"memd/groom"
	"memd/internal/dirlock"
	"memd/recall"
	"memd/store"
	"memd/tiers"
)

// Room returns budgets under which a store keeps rows short-term memories as
// they are: none is archived for want of room, and the store does not move on
// to a second database. Whoever measures under them says so.
func Room(rows int) configs.Budgets {
	b := configs.DefaultBudgets()
	b.ShortRows = rows + 1
	b.ShortChars = math.MaxInt32
	b.ActiveBytes = 1 << 40
	return b
}

// Daemon is memd in this process: a store in a folder, served on a real unix
// socket as `memd serve` would.
type Daemon struct {
	Store  *store.Set
	Client *client.Client // over the socket

	stop   context.CancelFunc
	served chan error
}

// Serve starts a Daemon over the store in dir, with e for its embedder, nil for
// none. The caller must Close it.
func Serve(dir string, budgets configs.Budgets, e embedding.Embedder) (*Daemon, error) {
	return serve(dir, budgets, e, configs.DefaultGuard())
}

func serve(dir string, budgets configs.Budgets, e embedding.Embedder, guard configs.Guard) (*Daemon, error) {
	ctx, stop := context.WithCancel(context.Background())
	s, err := store.Open(ctx, store.Options{Dir: dir, Budgets: budgets})
	if err != nil {
		stop()
		return nil, err
	}
	socket := filepath.Join(dir, dirlock.SocketName)
	listener, err := api.ListenUnix(socket)
	if err != nil {
		stop()
		return nil, errors.Join(err, s.Close())
	}
	server := api.New(api.Options{
		Tiers: tiers.New(s).WithGuard(guard), Recall: recall.New(s, nil).WithEmbedder(e, 0), Groom: groom.New(s, nil), Store: s, Version: "bench",
	})
	d := &Daemon{Store: s, Client: client.New(client.Unix(socket)), stop: stop, served: make(chan error, 1)}
	go func() { d.served <- server.Serve(ctx, listener) }()
	return d, nil
}

// Close lets running requests end and closes the store.
func (d *Daemon) Close() error {
	d.Client.Close()
	d.stop()
	return errors.Join(<-d.served, d.Store.Close())
}
