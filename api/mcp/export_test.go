package mcp

import "time"

// Every sets the time between notifications of progress.
func (s *Server) Every(d time.Duration) *Server { s.every = d; return s }

// Rooting bounds the wait for a client's roots.
func (s *Server) Rooting(d time.Duration) *Server { s.patience = d; return s }

// Patient gives calls as long as d when the client has closed its end.
func (s *Stdio) Patient(d time.Duration) { s.last = d }
