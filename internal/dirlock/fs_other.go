//go:build !linux && !darwin

package dirlock

// NetworkFS knows no file system here and fears none.
func NetworkFS(string) (name string, isNetwork bool, err error) { return "", false, nil }
