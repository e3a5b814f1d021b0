package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reporting tells a client that asked for it each while that a call still runs, until
// the returned function is called. That it began or is done is not told: the official
// TypeScript client takes a notification that comes along with the answer for one of a
// call that it does not know.
func (s *Server) reporting(ctx context.Context, req *sdk.CallToolRequest) (done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		for n := 1.0; ; n++ {
			select {
			case <-tick.C:
				// A client that does not take it is still owed the answer.
				_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: "running"})
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		running.Wait()
	}
}
