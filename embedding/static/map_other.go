//go:build !darwin && !linux

package static

import (
	"io"
	"os"
)

// mapFile returns the content of f, size bytes, and what gives it back.
func mapFile(f *os.File, size int) (data []byte, release func() error, err error) {
	data = make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
