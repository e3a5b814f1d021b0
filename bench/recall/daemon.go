package main

import (
	"context"
	"fmt"

	"memd"
	"memd/bench"
	"memd/configs"
	"memd/embedding"
	"memd/store/vectorfill"
)

// daemon is memd as a searcher, spoken to through its REST interface alone.
type daemon struct {
	*bench.Daemon
	dir      string
	embedder embedding.Embedder // nil: none
	rows     map[string]string  // memory id -> row id
	refused  int                // rows that memd would not take
}

// startDaemon serves a new store in dir.
func startDaemon(dir string, budgets configs.Budgets, e embedding.Embedder) (*daemon, error) {
	d, err := bench.Serve(dir, budgets, e)
	if err != nil {
		return nil, err
	}
	return &daemon{Daemon: d, dir: dir, embedder: e, rows: map[string]string{}}, nil
}

func (d *daemon) close() error { return d.Close() }

// namespace is where the rows of a group live.
func namespace(group string) string { return "bench/" + group }

// load remembers the rows as short-term memories, in their order.
func (d *daemon) load(ctx context.Context, rows []row) error {
	for _, r := range rows {
		reply, err := d.Client.Remember(ctx, memd.Remember{
			Summary: r.Text, Namespace: namespace(r.Group), SessionID: string(r.Session),
		})
		switch {
		case err != nil && memd.CodeOf(err) == memd.CodeSecretDetected:
			d.refused++
			continue
		case err != nil:
			return fmt.Errorf("remember row %s: %w", r.ID, err)
		case reply.Value.Deduplicated || reply.Value.ID == "":
			return fmt.Errorf("row %s was not written as a row of its own", r.ID)
		}
		d.rows[reply.Value.ID] = r.ID
	}
	if d.embedder != nil {
		if err := vectorfill.Write(ctx, d.dir, d.embedder); err != nil {
			return err
		}
	}
	return d.allShort(ctx, len(d.rows))
}

// keep remembers a row for the long term, as the next version of a key.
func (d *daemon) keep(ctx context.Context, r row, key string) error {
	reply, err := d.Client.RememberLongTerm(ctx, memd.RememberLongTerm{
		MemoryKey: key, Summary: r.Text, Source: "https://example.com/" + key, Namespace: namespace(r.Group),
	})
	if err != nil {
		return fmt.Errorf("keep row %s: %w", r.ID, err)
	}
	d.rows[reply.Value.ID] = r.ID
	return nil
}

// allShort checks that every row still stands in the short tier.
func (d *daemon) allShort(ctx context.Context, want int) error {
	stats, err := d.Client.Stats(ctx)
	if err != nil {
		return err
	}
	for _, tier := range stats.Value.Tiers {
		if tier.Tier == memd.Short && tier.Rows != want {
			return fmt.Errorf("%d rows stand in the short tier, want %d", tier.Rows, want)
		}
	}
	return nil
}

func (d *daemon) search(ctx context.Context, group, query string, limit int) ([]string, error) {
	touch := false
	reply, err := d.Client.Recall(ctx, memd.Query{
		Query: query, Namespaces: []string{namespace(group)}, Limit: &limit, Touch: &touch,
	})
	if err != nil {
		return nil, err
	}
	if len(reply.Value.Degraded) > 0 {
		return nil, fmt.Errorf("recall without %v", reply.Value.Degraded)
	}
	ids := make([]string, 0, len(reply.Value.Results))
	for _, hit := range reply.Value.Results {
		ids = append(ids, d.rows[hit.ID])
	}
	return ids, nil
}
