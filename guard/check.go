package guard

import "time"

// Check reads the files of a data directory that belong to this package, and returns
// what is wrong with them: while it is, what they hold opens and allows nothing. One
// that is not there is not at fault.
func Check(dir string) (faults []error) {
	admin, others, key, list := adminFile(dir), tokensFile(dir), keyFile(dir), allowedFile(dir)
	admin.needed, key.needed = false, false
	for _, load := range []func(time.Time) error{admin.load, others.load, key.load, list.load} {
		if err := load(time.Time{}); err != nil { // the time says only when to read again
			faults = append(faults, err)
		}
	}
	return faults
}
