package store_test

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"memd/internal/memtest"
	"memd/migrations"
)

func TestMigrationsOnFreshDatabase(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	if got := shell(t, s.Dir(), `SELECT group_concat(version_id || '/' || is_applied) FROM goose_db_version`); got != "0/1,1/1,2/1,3/1,4/1,5/1,6/1" {
		t.Errorf("goose has recorded %s", got)
	}
	want := "archive long meta short transient"
	got := shell(t, s.Dir(), `SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema
 WHERE type = 'table' AND name IN ('transient', 'short', 'long', 'archive', 'meta') ORDER BY name)`)
	if got != want {
		t.Errorf("the five tables are %q", got)
	}
	// In STRICT tables a column's type is what it holds, whoever writes.
	for table := range strings.FieldsSeq(want) {
		if got := shell(t, s.Dir(), `SELECT strict FROM pragma_table_list WHERE name = '`+table+`'`); got != "1" {
			t.Errorf("table %s is not STRICT", table)
		}
	}
}

// The four model tables have the same columns, the memory object's fields
// among them.
func TestMigrationsColumns(t *testing.T) {
	s := memtest.Store(t, "", nil, nil)
	columns := func(table string) []string {
		return strings.Split(shell(t, s.Dir(), `SELECT name FROM pragma_table_info('`+table+`')`), "\n")
	}
	short := columns("short")
	for _, table := range []string{"transient", "long", "archive"} {
		if got := columns(table); !slices.Equal(got, short) {
			t.Errorf("%s has the columns %q, short %q", table, got, short)
		}
	}
	for field := range strings.FieldsSeq(`id namespace kind memory_key version summary raw_content why how_to_apply
 importance tags source source_status verified_at verified_by stale stale_reason owner access session_id agent
 created_at updated_at last_accessed_at access_count expires_at resolved_at content_hash`) {
		if !slices.Contains(short, field) {
			t.Errorf("no column for the field %s", field)
		}
	}
	if got := strings.Join(columns("meta"), " "); got != "key value updated_at" {
		t.Errorf("meta has the columns %s", got)
	}
	if got := strings.Join(columns("memory"), " "); got != "tier id namespace kind memory_key version is_head importance stale summary source updated_at age_days" {
		t.Errorf("view memory has the columns %s", got)
	}
}

// The constant by which a newer database is told counts the files.
func TestMigrationsLatest(t *testing.T) {
	names, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 {
			t.Errorf("migration %s is out of order", name)
		}
	}
	if len(names) != migrations.Latest {
		t.Errorf("Latest is %d, there are %d migrations", migrations.Latest, len(names))
	}
	if opened, err := open(t.TempDir()); err != nil {
		t.Error(err)
	} else if err := opened.Close(); err != nil {
		t.Error(err)
	}
}
