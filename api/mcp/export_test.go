package mcp

import "time"

// Every sets the time between notifications of progress.
func (s *Server) Every(d time.Duration) *Server { s.every = d; return s }
