//go:build !linux

package store

import "errors"

// openedAlone cannot tell here who else has a file open.
func openedAlone(string) (bool, error) { return false, errors.ErrUnsupported }
