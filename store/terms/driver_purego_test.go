//go:build !memd_cgo

package terms

import _ "modernc.org/sqlite" // the SQLite that agrees with terms, see newIndex
