//go:build memd_cgo

package terms

import _ "github.com/mattn/go-sqlite3" // the SQLite that agrees with terms, see newIndex
