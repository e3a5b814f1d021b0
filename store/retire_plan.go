package store

import (
	"context"
	"errors"
	"slices"

	"memd"
)

// surplus are the historical databases to be retired for their number.
type surplus struct {
	files []string // oldest first
	to    string   // what is owed in them goes there
	holds bool     // to is the oldest of all, of which nothing stays but what is owed
}

// surplusFiles tells which historical databases are to be retired where limit may
// stay, the oldest, or because their retirement has begun. What is owed in them
// goes into the next-oldest. That hands it on in its own turn, unless it is more
// than half of the budget of the active database: then the file that holds it
// stays, in the place of one that is younger, so that no rollover moves much.
func (s *Set) surplusFiles(v *View, limit int) (sur surplus, err error) {
	var files []string
	for i, p := range slices.Backward(v.parts) {
		if i > 0 && p.broken() == nil {
			files = append(files, p.file)
		}
	}
	begun, err := v.ids(v.active(), `SELECT file FROM history WHERE state = 'retiring'`)
	if err != nil {
		return sur, err
	}
	n := len(v.parts) - 1 - limit
	if n > 0 && n < len(files)-1 && limit > 1 && !slices.Contains(begun, files[0]) {
		owed, err := v.owedBytes(files[0])
		if err != nil {
			return sur, err
		}
		if sur.holds = owed > s.budgets.ActiveBytes/2; sur.holds {
			sur.to, files = files[0], files[1:]
		}
	}
	begun = slices.DeleteFunc(begun, func(file string) bool { return !slices.Contains(files, file) })
	n -= len(begun)
	for i, file := range files {
		newest := i == len(files)-1
		switch {
		case newest && sur.to == "": // what is owed must have a place
			sur.to = file
		case slices.Contains(begun, file):
			sur.files = append(sur.files, file)
		case n > 0 && !newest:
			sur.files = append(sur.files, file)
			n--
		case sur.to == "":
			sur.to = file
		}
	}
	return sur, nil
}

// owedBytes are those of the text and terms of what is owed in a historical
// database and of its tombstones, but for the last words of keys without a head.
func (v *View) owedBytes(file string) (sum int64, err error) {
	ids, err := v.ids(v.active(), `SELECT id FROM head WHERE file = ?`, file)
	if err != nil {
		return 0, err
	}
	err = v.each(func(i int, c *conn) error {
		if v.parts[i].file != file {
			return nil
		}
		var long, archive, graves int64
		err := errors.Join(
			c.row(v.ctx, on(memd.Long, `SELECT coalesce(sum(`+rowBytes+`), 0) FROM {t} WHERE id IN (SELECT value FROM json_each(?))`), []any{jsonList(ids)}, &long),
			c.row(v.ctx, on(memd.Archive, `SELECT coalesce(sum(`+rowBytes+`), 0) FROM {t} WHERE memory_key IS NOT NULL`), nil, &archive),
			c.row(v.ctx, `SELECT count(*) FROM tombstone`, nil, &graves))
		sum = long + archive + graves*tombstoneSize
		return fail("measure what is owed", err)
	})
	return sum, err
}

// yield is what retiring a database gives, at most, and what of it moves, in bytes.
type yield struct {
	file       string
	gain, kept int64
}

// yieldOf tells how many bytes retiring a database gives back at most: those that
// are not text, terms, vectors and index of what is left in it.
func yieldOf(ctx context.Context, c *conn) (y yield, err error) {
	bytes, err := fileBytes(ctx, c)
	if err != nil {
		return y, err
	}
	for _, t := range []memd.Tier{memd.Long, memd.Archive} {
		var rows, text, index, vectors int64
		err := c.row(ctx, on(t, `SELECT count(*), coalesce(sum(`+rowBytes+`), 0), (SELECT sum(octet_length(block)) FROM {t}_fts_data),
 (SELECT coalesce(sum(octet_length(vec)), 0) FROM embedding e CROSS JOIN {t} ON {t}.id = e.memory_id) FROM {t}`),
			nil, &rows, &text, &index, &vectors)
		if err != nil {
			return y, fail("measure what is owed", err)
		}
		if rows > 0 {
			y.kept += text + index + vectors
		}
	}
	y.gain = max(0, bytes-y.kept)
	return y, nil
}
