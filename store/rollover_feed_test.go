package store_test

import (
	"fmt"
	"testing"

	"memd"
	"memd/configs"
	"memd/store"
)

// What stays in the active database when it becomes a historical one, or is
// handed on to the next, sets off no rollover by itself, however much it is: some
// of the budget has to come anew. So it is by an exchange of files and by a copy.
func TestRolloverFeedsNoOther(t *testing.T) {
	fill := map[string]string{
		"forgotten": `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
INSERT INTO tombstone SELECT format('gone-%06d', i), 'default', NULL, format('sha256:%064d', i), '2026-11-30T01:00:00.000Z' FROM n`,
		"answered once": `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
INSERT INTO once SELECT 'ann', format('key-%06d', i), format('%064d', i), format('%036d', i), '{}', '2026-11-30T01:00:00.000Z' FROM n`,
		"keys": `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO head (namespace, memory_key, version) SELECT 'default', format('a/key/of/some/length/%06d', i), 3 FROM n`,
	}
	for name, sql := range fill {
		for _, copied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, copied %v", name, copied), func(t *testing.T) {
				s := under(t, "", func(b *configs.Budgets) { b.ActiveBytes = configs.MinActiveBytes })
				if copied {
					s.CannotTell()
				}
				write(t, s, func(tx *store.Tx) error { return tx.Exec(sql) })
				const rows, each = 120, 6000
				for n := range rows {
					put(t, s, row(memd.Short, n, textOf(n, each)))
				}
				write(t, s, func(*store.Tx) error { return nil })
				var base int
				fmt.Sscan(shell(t, s.Dir(), `SELECT value FROM meta WHERE key = 'carried_bytes'`), &base)
				// A row takes about twice its text.
				most := 2 + rows*each*3/max(configs.MinActiveBytes/8, base/4)
				if n := rollovers(t, s); n == 0 || n > most {
					t.Errorf("%d rollovers, want 1 to %d; %d bytes are handed on", n, most, base)
				}
			})
		}
	}
}
