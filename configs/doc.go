// Package configs holds the configuration of memd: its defaults, the commented
// file that states them, and the loader that folds defaults, file, environment
// and flags, in that order, into one validated [Config].
//
// The struct is the only list of keys. The loader walks it: a leaf with the
// tags "budgets" and "active_bytes" is the key budgets.active_bytes in the
// file, MEMD_BUDGETS_ACTIVE_BYTES in the environment and
// --budgets-active-bytes on a command line that offers it. Every leaf is set
// through one function whichever way its text came, so that no way in is
// laxer than another.
//
// A value that is refused is named with the place it came from: file and line,
// variable or flag. No other package of the house reads the environment.
package configs
