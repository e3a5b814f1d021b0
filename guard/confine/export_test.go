package confine

import "time"

// WithClock has f read the time from now, and wait by wait.
func (f *Folder) WithClock(now func() time.Time, wait func(time.Duration)) { f.now, f.wait = now, wait }
