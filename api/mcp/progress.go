package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// reporting tells a client that asked for it how a call goes: that it began, each
// while that it still runs, and with the returned function that it is done.
func (s *Server) reporting(ctx context.Context, req *sdk.CallToolRequest) (done func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	seconds := 0.0
	tell := func(message string) {
		// A client that does not take it is still owed the answer.
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: seconds, Message: message})
		seconds++
	}
	tell("begun")
	stop := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(s.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				tell("running")
			case <-stop:
				return
			}
		}
	})
	return func() {
		close(stop)
		running.Wait()
		tell("done")
	}
}
