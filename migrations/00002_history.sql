-- What several databases need of each other. Up to here none was ever rolled
-- over, so that the catalogue is empty and may be made anew.

-- +goose Up

-- The catalogue of historical databases, with what each adds to the use of
-- budgets. docs/format.md says what moves a database from state to state.
DROP VIEW budget;
DROP TABLE history;
CREATE TABLE history (
  file         TEXT PRIMARY KEY, -- name below history/
  seq          INTEGER NOT NULL UNIQUE, -- grows with each rollover, whatever the clock does
  state        TEXT    NOT NULL CHECK (state IN ('copying', 'sealed', 'retiring', 'retired')),
  sealed_at    TEXT    NOT NULL,
  bytes        INTEGER NOT NULL,
  short        INTEGER NOT NULL, -- rows
  long         INTEGER NOT NULL,
  archive      INTEGER NOT NULL,
  vectors      INTEGER NOT NULL,
  vector_bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows that have left a historical database but may still stand in its file:
-- they are dead to every reading, and deleted there after this commit.
CREATE TABLE gone (
  memory_id TEXT NOT NULL,
  file      TEXT NOT NULL,
  tier      TEXT NOT NULL,
  PRIMARY KEY (memory_id, file)
) STRICT, WITHOUT ROWID;

-- The rows of a session in their order, which lend each other relevance.
CREATE INDEX short_session ON short (namespace, session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX archive_session ON archive (namespace, session_id, id) WHERE session_id IS NOT NULL;

CREATE INDEX head_file ON head (file) WHERE file IS NOT NULL;

-- Each budget in force with its use over all databases; null where the use is
-- not counted here.
CREATE VIEW budget AS
SELECT substr(key, 9) AS budget,
       CASE substr(key, 9)
         WHEN 'active_bytes' THEN (SELECT (p.page_count - f.freelist_count) * s.page_size
                                   FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s)
         WHEN 'history_files' THEN (SELECT count(*) FROM history)
         WHEN 'store_bytes' THEN (SELECT coalesce(sum(bytes), 0) FROM history)
         WHEN 'transient_rows' THEN (SELECT rows FROM tally WHERE tier = 'transient')
         WHEN 'short_rows' THEN (SELECT rows FROM tally WHERE tier = 'short')
           + (SELECT coalesce(sum(short), 0) FROM history WHERE state <> 'copying')
         WHEN 'long_rows' THEN (SELECT count(*) FROM head WHERE id IS NOT NULL)
         WHEN 'archive_rows' THEN (SELECT rows FROM tally WHERE tier = 'archive')
           + (SELECT coalesce(sum(archive), 0) FROM history WHERE state <> 'copying')
         WHEN 'embedding_rows' THEN (SELECT count(*) FROM embedding)
           + (SELECT coalesce(sum(vectors), 0) FROM history WHERE state <> 'copying')
         WHEN 'embedding_bytes' THEN (SELECT coalesce(sum(length(vec)), 0) FROM embedding)
           + (SELECT coalesce(sum(vector_bytes), 0) FROM history WHERE state <> 'copying')
       END AS used,
       CASE WHEN value GLOB '*[^0-9]*' THEN value ELSE cast(value AS INTEGER) END AS "limit"
FROM meta
WHERE key LIKE 'budgets.%';
