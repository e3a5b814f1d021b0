//go:build memd_cgo && !sqlite_fts5 && !fts5

package store

// Only a tag reaches the C flags of another module, so that memd_cgo alone
// would build a SQLite without the keyword index.
const _ = build_with_tags_memd_cgo_and_sqlite_fts5
