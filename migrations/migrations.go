// Package migrations holds the SQL that shapes a memd database, active or
// historical alike. The store runs it with goose.
package migrations

import "embed"

// FS holds the migrations, named NNNNN_name.sql. There is no way down: a
// database of a newer schema is refused, not rewritten.
//
//go:embed *.sql
var FS embed.FS

// Latest is the version of the newest migration in FS.
const Latest = 6
