package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"memd"
)

// Taken tells of each record of an import what became of it, in their order.
type Taken struct {
	Records []memd.Imported `json:"records"`
}

// Import takes in records, JSON objects as memd.Record, at most memd.MaxRecords; dry
// only says what would become of each.
func (c *Client) Import(ctx context.Context, records []json.RawMessage, dry bool) (Reply[Taken], error) {
	body := struct {
		Records []json.RawMessage `json:"records"`
		DryRun  bool              `json:"dry_run,omitempty"`
	}{records, dry}
	return call[Taken](ctx, c, request{method: http.MethodPost, path: v1("import"), body: body})
}

// Export copies an export to w as it comes, of some namespaces or of all (none named). It
// may end early without an error that tells: what came is whole where its trailer is there.
func (c *Client) Export(ctx context.Context, namespaces []string, w io.Writer) error {
	r := request{method: http.MethodGet, path: v1("export")}
	if len(namespaces) > 0 {
		r.query = url.Values{"namespace": namespaces}
	}
	target, err := r.url()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, r.method, target, nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return unanswered(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			return unanswered(ctx, err)
		}
		return problemOf(res.StatusCode, raw)
	}
	taker := &taker{w: w}
	if _, err := io.Copy(taker, res.Body); err != nil {
		if taker.err != nil {
			return taker.err
		}
		return unanswered(ctx, err)
	}
	return nil
}

// taker tells an error of who takes an answer from one of who gives it.
type taker struct {
	w   io.Writer
	err error
}

func (t *taker) Write(b []byte) (n int, err error) {
	if n, t.err = t.w.Write(b); t.err == nil && n < len(b) {
		t.err = errors.New("short write")
	}
	return n, t.err
}
