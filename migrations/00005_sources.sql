-- What keeping a store in order has to know.

-- +goose Up

-- The hash of what a head's source cites, as memd read it when the head was last
-- verified; null where it did not read it then.
ALTER TABLE head ADD COLUMN source_hash TEXT;

-- Rows of this database that came by an import, until they have been here for a
-- day: nothing is judged away that nobody has had the time to look at.
CREATE TABLE imported (
  memory_id TEXT PRIMARY KEY,
  at        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
