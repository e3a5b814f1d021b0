package guard

import (
	"time"

	"memd"
)

// Check reads the files of a data directory that belong to this package, and returns
// what is wrong with them: while it is, what they hold opens and allows nothing. One
// that is not there is not at fault, but for a key that something was allowed with.
func Check(dir string) (faults []error) {
	admin, others, key, list := adminFile(dir), tokensFile(dir), keyFile(dir), allowedFile(dir)
	admin.needed, key.needed = false, false
	for _, load := range []func(time.Time) error{admin.load, others.load, key.load, list.load} {
		if err := load(time.Time{}); err != nil { // the time says only when to read again
			faults = append(faults, err)
		}
	}
	if key.fault == nil {
		if err := checkKey(key, list); err != nil {
			faults = append(faults, err)
		}
	}
	return faults
}

// checkKey looks whether the key is the one that the entries of the list were made with.
func checkKey(key file[[]byte], list file[[]allowedLine]) error {
	const remedy = "put the old %s back and start memd again; or `memd guard revoke` the entries, and allow anew what a refusal names"
	if key.holds == nil {
		if n := len(list.holds); n > 0 {
			return memd.Errorf(memd.CodeStoreFailed, "%s is gone; the next start makes a new one, with which the entries of %s (%d) let nothing pass",
				key.path(), AllowedFile, n).WithHint(remedy, KeyFile)
		}
		return nil
	}
	if n := strangers(list.holds, markOf(key.holds)); n > 0 {
		return memd.Errorf(memd.CodeStoreFailed, "entries of %s (%d) were made with another %s and let nothing pass",
			list.path(), n, KeyFile).WithHint(remedy, KeyFile)
	}
	return nil
}
