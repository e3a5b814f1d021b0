-- Vectors in the two forms that search them. No release ever wrote one, so that
-- the table is empty and may be made anew.

-- +goose Up

DROP TABLE embedding;
CREATE TABLE embedding (
  memory_id TEXT PRIMARY KEY,
  model     TEXT    NOT NULL, -- vectors of one model and dimension alone are compared
  dim       INTEGER NOT NULL,
  vec       BLOB    NOT NULL, -- dim signed bytes
  bits      BLOB              -- the signs, eight to a byte from the lowest bit, the last one filled with 0
) STRICT, WITHOUT ROWID;

-- The newest rows get their vectors first.
CREATE INDEX outbox_queued ON outbox (queued_at);
