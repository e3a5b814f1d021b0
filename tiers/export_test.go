package tiers

// Watched returns a Service that calls fn whenever a guard looks at a text.
func (s *Service) Watched(fn func()) *Service {
	watched := *s
	watched.onLook = fn
	return &watched
}
