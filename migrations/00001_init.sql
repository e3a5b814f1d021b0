-- The shape of one memd database, active or historical. docs/format.md says what
-- the tables mean. Everything here works in a stock sqlite3 shell of 3.40 or
-- later without extensions: triggers and views use built-in functions only.

-- +goose Up

PRAGMA application_id = 1835363684; -- "memd"

CREATE TABLE meta (
  key        TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows and code points of summary per tier, kept by triggers: what ranking and
-- budgets count with.
CREATE TABLE tally (
  tier  TEXT PRIMARY KEY,
  rows  INTEGER NOT NULL,
  chars INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO tally (tier, rows, chars)
VALUES ('transient', 0, 0), ('short', 0, 0), ('long', 0, 0), ('archive', 0, 0);

-- The current version of each key, and where it lives. A null id is a head
-- deleted by hand: the version counter stays, so that no older version revives.
CREATE TABLE head (
  namespace  TEXT    NOT NULL,
  memory_key TEXT    NOT NULL,
  version    INTEGER NOT NULL,
  id         TEXT,
  file       TEXT, -- the historical database that holds it, null for this one
  PRIMARY KEY (namespace, memory_key)
) STRICT, WITHOUT ROWID;

-- The catalogue of historical databases.
CREATE TABLE history (
  file      TEXT PRIMARY KEY, -- name below history/
  state     TEXT    NOT NULL CHECK (state IN ('sealed', 'retiring')),
  sealed_at TEXT    NOT NULL,
  rows      INTEGER NOT NULL,
  bytes     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was forgotten, without its body: keeps imports and syncs from bringing
-- it back.
CREATE TABLE tombstone (
  id           TEXT PRIMARY KEY,
  namespace    TEXT NOT NULL,
  memory_key   TEXT,
  content_hash TEXT NOT NULL,
  forgotten_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX tombstone_hash ON tombstone (namespace, content_hash);

-- Who did what to which memory, without bodies.
CREATE TABLE audit (
  seq        INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  caller     TEXT NOT NULL,
  action     TEXT NOT NULL,
  memory_id  TEXT,
  namespace  TEXT,
  memory_key TEXT,
  detail     TEXT
) STRICT;

-- Vectors by memory; the model's name keeps spaces apart.
CREATE TABLE embedding (
  memory_id TEXT PRIMARY KEY,
  model     TEXT    NOT NULL,
  dim       INTEGER NOT NULL,
  vec       BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- Rows that wait for a vector.
CREATE TABLE outbox (
  memory_id    TEXT PRIMARY KEY,
  queued_at    TEXT    NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  leased_until TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
  session_id TEXT PRIMARY KEY,
  owner      TEXT NOT NULL, -- the caller that opened it
  opened_at  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Writes answered under an idempotency key, without bodies: a repeat within a
-- day is answered as the first was.
CREATE TABLE once (
  caller    TEXT NOT NULL,
  key       TEXT NOT NULL,
  print     TEXT NOT NULL, -- SHA-256 of the request
  memory_id TEXT NOT NULL,
  outcome   TEXT NOT NULL,
  at        TEXT NOT NULL,
  UNIQUE (caller, key)
) STRICT;
CREATE INDEX once_at ON once (at);

-- Accesses on their way into access_count: one per memory, session and day.
CREATE TABLE access_log (
  memory_id TEXT NOT NULL,
  session   TEXT NOT NULL,
  day       TEXT NOT NULL,
  at        TEXT NOT NULL,
  folded    INTEGER NOT NULL DEFAULT 0, -- kept until the day is over, so that it counts once
  PRIMARY KEY (memory_id, session, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE pitfall_hit (
  seq       INTEGER PRIMARY KEY,
  memory_id TEXT NOT NULL,
  at        TEXT NOT NULL
) STRICT;
CREATE INDEX pitfall_hit_memory ON pitfall_hit (memory_id);

CREATE TABLE transient (
  rid              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL UNIQUE,
  namespace        TEXT    NOT NULL,
  kind             TEXT    NOT NULL,
  memory_key       TEXT,
  version          INTEGER,
  importance       INTEGER NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  tags             TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
  source           TEXT,
  source_status    TEXT    NOT NULL DEFAULT 'none'
                   CHECK (source_status IN ('ok', 'missing', 'changed', 'unchecked', 'none')),
  verified_at      TEXT,
  verified_by      TEXT,
  stale            INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  stale_reason     TEXT,
  owner            TEXT,
  access           TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(access) AND json_type(access) = 'array'),
  session_id       TEXT    NOT NULL,
  agent            TEXT,
  created_at       TEXT    NOT NULL,
  updated_at       TEXT    NOT NULL,
  written_at       TEXT    NOT NULL, -- when the content was last written; age counts from it
  last_accessed_at TEXT,
  access_count     INTEGER NOT NULL DEFAULT 0, -- folded in by the light groom
  expires_at       TEXT,
  resolved_at      TEXT,
  content_hash     TEXT    NOT NULL,
  seg_rev          INTEGER NOT NULL DEFAULT 0, -- moves with each write of text by memd; a hand edit leaves it
  summary          TEXT    NOT NULL,
  why              TEXT,
  how_to_apply     TEXT,
  seg              TEXT    NOT NULL DEFAULT '', -- index terms FTS5 cannot make itself: CJK pieces, identifiers
  raw_content      TEXT
) STRICT;
CREATE INDEX transient_session ON transient (session_id, rid);
CREATE INDEX transient_expiry ON transient (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE short (
  rid              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL UNIQUE,
  namespace        TEXT    NOT NULL,
  kind             TEXT    NOT NULL,
  memory_key       TEXT,
  version          INTEGER,
  importance       INTEGER NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  tags             TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
  source           TEXT,
  source_status    TEXT    NOT NULL DEFAULT 'none'
                   CHECK (source_status IN ('ok', 'missing', 'changed', 'unchecked', 'none')),
  verified_at      TEXT,
  verified_by      TEXT,
  stale            INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  stale_reason     TEXT,
  owner            TEXT,
  access           TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(access) AND json_type(access) = 'array'),
  session_id       TEXT,
  agent            TEXT,
  created_at       TEXT    NOT NULL,
  updated_at       TEXT    NOT NULL,
  written_at       TEXT    NOT NULL, -- when the content was last written; age counts from it
  last_accessed_at TEXT,
  access_count     INTEGER NOT NULL DEFAULT 0, -- folded in by the light groom
  expires_at       TEXT,
  resolved_at      TEXT,
  content_hash     TEXT    NOT NULL,
  seg_rev          INTEGER NOT NULL DEFAULT 0, -- moves with each write of text by memd; a hand edit leaves it
  summary          TEXT    NOT NULL,
  why              TEXT,
  how_to_apply     TEXT,
  seg              TEXT    NOT NULL DEFAULT '', -- index terms FTS5 cannot make itself: CJK pieces, identifiers
  raw_content      TEXT
) STRICT;
CREATE INDEX short_namespace ON short (namespace, id);
CREATE INDEX short_hash ON short (namespace, substr(content_hash, 8, 16));
CREATE INDEX short_expiry ON short (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE long (
  rid              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL UNIQUE,
  namespace        TEXT    NOT NULL,
  kind             TEXT    NOT NULL,
  memory_key       TEXT    NOT NULL,
  version          INTEGER NOT NULL,
  importance       INTEGER NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  tags             TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
  source           TEXT    NOT NULL,
  source_status    TEXT    NOT NULL DEFAULT 'none'
                   CHECK (source_status IN ('ok', 'missing', 'changed', 'unchecked', 'none')),
  verified_at      TEXT    NOT NULL,
  verified_by      TEXT,
  stale            INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  stale_reason     TEXT,
  owner            TEXT,
  access           TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(access) AND json_type(access) = 'array'),
  session_id       TEXT,
  agent            TEXT,
  created_at       TEXT    NOT NULL,
  updated_at       TEXT    NOT NULL,
  written_at       TEXT    NOT NULL, -- when the content was last written; age counts from it
  last_accessed_at TEXT,
  access_count     INTEGER NOT NULL DEFAULT 0, -- folded in by the light groom
  expires_at       TEXT,
  resolved_at      TEXT,
  content_hash     TEXT    NOT NULL,
  seg_rev          INTEGER NOT NULL DEFAULT 0, -- moves with each write of text by memd; a hand edit leaves it
  summary          TEXT    NOT NULL,
  why              TEXT,
  how_to_apply     TEXT,
  seg              TEXT    NOT NULL DEFAULT '', -- index terms FTS5 cannot make itself: CJK pieces, identifiers
  raw_content      TEXT,
  UNIQUE (namespace, memory_key, version)
) STRICT;
CREATE INDEX long_namespace ON long (namespace, id);
CREATE INDEX long_hash ON long (namespace, substr(content_hash, 8, 16));
CREATE INDEX long_expiry ON long (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE archive (
  rid              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL UNIQUE,
  namespace        TEXT    NOT NULL,
  kind             TEXT    NOT NULL,
  memory_key       TEXT,
  version          INTEGER,
  importance       INTEGER NOT NULL DEFAULT 5 CHECK (importance BETWEEN 1 AND 10),
  tags             TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(tags) AND json_type(tags) = 'array'),
  source           TEXT,
  source_status    TEXT    NOT NULL DEFAULT 'none'
                   CHECK (source_status IN ('ok', 'missing', 'changed', 'unchecked', 'none')),
  verified_at      TEXT,
  verified_by      TEXT,
  stale            INTEGER NOT NULL DEFAULT 0 CHECK (stale IN (0, 1)),
  stale_reason     TEXT,
  owner            TEXT,
  access           TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(access) AND json_type(access) = 'array'),
  session_id       TEXT,
  agent            TEXT,
  created_at       TEXT    NOT NULL,
  updated_at       TEXT    NOT NULL,
  written_at       TEXT    NOT NULL, -- when the content was last written; age counts from it
  last_accessed_at TEXT,
  access_count     INTEGER NOT NULL DEFAULT 0, -- folded in by the light groom
  expires_at       TEXT,
  resolved_at      TEXT,
  content_hash     TEXT    NOT NULL,
  seg_rev          INTEGER NOT NULL DEFAULT 0, -- moves with each write of text by memd; a hand edit leaves it
  summary          TEXT    NOT NULL,
  why              TEXT,
  how_to_apply     TEXT,
  seg              TEXT    NOT NULL DEFAULT '', -- index terms FTS5 cannot make itself: CJK pieces, identifiers
  raw_content      TEXT
) STRICT;
CREATE INDEX archive_namespace ON archive (namespace, id);
CREATE INDEX archive_key ON archive (namespace, memory_key) WHERE memory_key IS NOT NULL;
CREATE INDEX archive_hash ON archive (namespace, substr(content_hash, 8, 16));
CREATE INDEX archive_expiry ON archive (expires_at) WHERE expires_at IS NOT NULL;

-- Rows whose text was edited by hand, until the light groom makes seg and hash
-- anew. drop_seg: seg no longer belongs to the text and is left out of the index.
CREATE TABLE short_reindex (rid INTEGER PRIMARY KEY, drop_seg INTEGER NOT NULL) STRICT;
CREATE TABLE long_reindex (rid INTEGER PRIMARY KEY, drop_seg INTEGER NOT NULL) STRICT;
CREATE TABLE archive_reindex (rid INTEGER PRIMARY KEY, drop_seg INTEGER NOT NULL) STRICT;

CREATE VIEW short_text AS
SELECT rid, summary,
       coalesce(why, '') || ' ' || coalesce(how_to_apply, '') AS detail,
       coalesce(memory_key, '') || ' ' || tags || ' ' || kind || ' ' || coalesce(source, '') || ' ' || coalesce(owner, '') AS labels,
       CASE WHEN EXISTS (SELECT 1 FROM short_reindex r WHERE r.rid = short.rid AND r.drop_seg = 1) THEN '' ELSE seg END AS seg
FROM short;
CREATE VIRTUAL TABLE short_fts USING fts5(summary, detail, labels, seg,
  content='short_text', content_rowid='rid', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE short_vocab USING fts5vocab(short_fts, 'row');

CREATE VIEW long_text AS
SELECT rid, summary,
       coalesce(why, '') || ' ' || coalesce(how_to_apply, '') AS detail,
       coalesce(memory_key, '') || ' ' || tags || ' ' || kind || ' ' || coalesce(source, '') || ' ' || coalesce(owner, '') AS labels,
       CASE WHEN EXISTS (SELECT 1 FROM long_reindex r WHERE r.rid = long.rid AND r.drop_seg = 1) THEN '' ELSE seg END AS seg
FROM long;
CREATE VIRTUAL TABLE long_fts USING fts5(summary, detail, labels, seg,
  content='long_text', content_rowid='rid', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE long_vocab USING fts5vocab(long_fts, 'row');

CREATE VIEW archive_text AS
SELECT rid, summary,
       coalesce(why, '') || ' ' || coalesce(how_to_apply, '') AS detail,
       coalesce(memory_key, '') || ' ' || tags || ' ' || kind || ' ' || coalesce(source, '') || ' ' || coalesce(owner, '') AS labels,
       CASE WHEN EXISTS (SELECT 1 FROM archive_reindex r WHERE r.rid = archive.rid AND r.drop_seg = 1) THEN '' ELSE seg END AS seg
FROM archive;
CREATE VIRTUAL TABLE archive_fts USING fts5(summary, detail, labels, seg,
  content='archive_text', content_rowid='rid', tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE archive_vocab USING fts5vocab(archive_fts, 'row');

-- +goose StatementBegin
CREATE TRIGGER transient_insert AFTER INSERT ON transient BEGIN
  UPDATE tally SET rows = rows + 1, chars = chars + length(new.summary) WHERE tier = 'transient';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER transient_update AFTER UPDATE OF summary ON transient BEGIN
  UPDATE tally SET chars = chars + length(new.summary) - length(old.summary) WHERE tier = 'transient';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER transient_delete AFTER DELETE ON transient BEGIN
  UPDATE tally SET rows = rows - 1, chars = chars - length(old.summary) WHERE tier = 'transient';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER short_insert AFTER INSERT ON short BEGIN
  INSERT INTO short_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''), new.seg);
  UPDATE tally SET rows = rows + 1, chars = chars + length(new.summary) WHERE tier = 'short';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER short_delete AFTER DELETE ON short BEGIN
  INSERT INTO short_fts (short_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM short_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM short_reindex WHERE rid = old.rid;
  DELETE FROM embedding WHERE memory_id = old.id;
  DELETE FROM outbox WHERE memory_id = old.id;
  UPDATE tally SET rows = rows - 1, chars = chars - length(old.summary) WHERE tier = 'short';
END;
-- +goose StatementEnd
-- One trigger for every change of indexed text: a second one that wrote to the
-- same index made the shell's UPDATE fail.
-- +goose StatementBegin
CREATE TRIGGER short_update
AFTER UPDATE OF rid, summary, why, how_to_apply, memory_key, tags, kind, source, owner, seg, seg_rev ON short BEGIN
  INSERT INTO short_fts (short_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM short_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM short_reindex WHERE rid = old.rid AND new.seg_rev <> old.seg_rev;
  INSERT INTO short_reindex (rid, drop_seg)
    SELECT new.rid, new.summary <> old.summary OR new.why IS NOT old.why OR new.how_to_apply IS NOT old.how_to_apply
    WHERE new.seg_rev = old.seg_rev
    ON CONFLICT (rid) DO UPDATE SET drop_seg = max(drop_seg, excluded.drop_seg);
  DELETE FROM embedding WHERE memory_id = old.id AND new.summary <> old.summary;
  INSERT OR REPLACE INTO outbox (memory_id, queued_at)
    SELECT new.id, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE new.summary <> old.summary
      AND EXISTS (SELECT 1 FROM meta WHERE key = 'embedder' AND value <> 'none');
  INSERT INTO short_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM short_reindex WHERE rid = new.rid AND drop_seg = 1) THEN '' ELSE new.seg END);
  UPDATE tally SET chars = chars + length(new.summary) - length(old.summary) WHERE tier = 'short';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER long_insert AFTER INSERT ON long BEGIN
  INSERT INTO long_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''), new.seg);
  UPDATE tally SET rows = rows + 1, chars = chars + length(new.summary) WHERE tier = 'long';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER long_delete AFTER DELETE ON long BEGIN
  INSERT INTO long_fts (long_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM long_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM long_reindex WHERE rid = old.rid;
  DELETE FROM embedding WHERE memory_id = old.id;
  DELETE FROM outbox WHERE memory_id = old.id;
  UPDATE tally SET rows = rows - 1, chars = chars - length(old.summary) WHERE tier = 'long';
  UPDATE head SET id = NULL, file = NULL
    WHERE namespace = old.namespace AND memory_key = old.memory_key AND id = old.id;
END;
-- +goose StatementEnd
-- One trigger for every change of indexed text: a second one that wrote to the
-- same index made the shell's UPDATE fail.
-- +goose StatementBegin
CREATE TRIGGER long_update
AFTER UPDATE OF rid, summary, why, how_to_apply, memory_key, tags, kind, source, owner, seg, seg_rev ON long BEGIN
  INSERT INTO long_fts (long_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM long_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM long_reindex WHERE rid = old.rid AND new.seg_rev <> old.seg_rev;
  INSERT INTO long_reindex (rid, drop_seg)
    SELECT new.rid, new.summary <> old.summary OR new.why IS NOT old.why OR new.how_to_apply IS NOT old.how_to_apply
    WHERE new.seg_rev = old.seg_rev
    ON CONFLICT (rid) DO UPDATE SET drop_seg = max(drop_seg, excluded.drop_seg);
  DELETE FROM embedding WHERE memory_id = old.id AND new.summary <> old.summary;
  INSERT OR REPLACE INTO outbox (memory_id, queued_at)
    SELECT new.id, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE new.summary <> old.summary
      AND EXISTS (SELECT 1 FROM meta WHERE key = 'embedder' AND value <> 'none');
  INSERT INTO long_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM long_reindex WHERE rid = new.rid AND drop_seg = 1) THEN '' ELSE new.seg END);
  UPDATE tally SET chars = chars + length(new.summary) - length(old.summary) WHERE tier = 'long';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER archive_insert AFTER INSERT ON archive BEGIN
  INSERT INTO archive_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''), new.seg);
  UPDATE tally SET rows = rows + 1, chars = chars + length(new.summary) WHERE tier = 'archive';
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER archive_delete AFTER DELETE ON archive BEGIN
  INSERT INTO archive_fts (archive_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM archive_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM archive_reindex WHERE rid = old.rid;
  DELETE FROM embedding WHERE memory_id = old.id;
  DELETE FROM outbox WHERE memory_id = old.id;
  UPDATE tally SET rows = rows - 1, chars = chars - length(old.summary) WHERE tier = 'archive';
END;
-- +goose StatementEnd
-- One trigger for every change of indexed text: a second one that wrote to the
-- same index made the shell's UPDATE fail.
-- +goose StatementBegin
CREATE TRIGGER archive_update
AFTER UPDATE OF rid, summary, why, how_to_apply, memory_key, tags, kind, source, owner, seg, seg_rev ON archive BEGIN
  INSERT INTO archive_fts (archive_fts, rowid, summary, detail, labels, seg)
  VALUES ('delete', old.rid, old.summary, coalesce(old.why, '') || ' ' || coalesce(old.how_to_apply, ''),
    coalesce(old.memory_key, '') || ' ' || old.tags || ' ' || old.kind || ' ' || coalesce(old.source, '') || ' ' || coalesce(old.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM archive_reindex WHERE rid = old.rid AND drop_seg = 1) THEN '' ELSE old.seg END);
  DELETE FROM archive_reindex WHERE rid = old.rid AND new.seg_rev <> old.seg_rev;
  INSERT INTO archive_reindex (rid, drop_seg)
    SELECT new.rid, new.summary <> old.summary OR new.why IS NOT old.why OR new.how_to_apply IS NOT old.how_to_apply
    WHERE new.seg_rev = old.seg_rev
    ON CONFLICT (rid) DO UPDATE SET drop_seg = max(drop_seg, excluded.drop_seg);
  DELETE FROM embedding WHERE memory_id = old.id AND new.summary <> old.summary;
  INSERT OR REPLACE INTO outbox (memory_id, queued_at)
    SELECT new.id, strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    WHERE new.summary <> old.summary
      AND EXISTS (SELECT 1 FROM meta WHERE key = 'embedder' AND value <> 'none');
  INSERT INTO archive_fts (rowid, summary, detail, labels, seg)
  VALUES (new.rid, new.summary, coalesce(new.why, '') || ' ' || coalesce(new.how_to_apply, ''),
    coalesce(new.memory_key, '') || ' ' || new.tags || ' ' || new.kind || ' ' || coalesce(new.source, '') || ' ' || coalesce(new.owner, ''),
    CASE WHEN EXISTS (SELECT 1 FROM archive_reindex WHERE rid = new.rid AND drop_seg = 1) THEN '' ELSE new.seg END);
  UPDATE tally SET chars = chars + length(new.summary) - length(old.summary) WHERE tier = 'archive';
END;
-- +goose StatementEnd

CREATE VIEW memory AS
SELECT 'transient' AS tier, id, namespace, kind, memory_key, version, 1 AS is_head,
       importance, stale, summary, source, updated_at,
       max(0, cast(julianday('now') - julianday(written_at) AS INTEGER)) AS age_days
FROM transient
UNION ALL
SELECT 'short' AS tier, id, namespace, kind, memory_key, version, 1 AS is_head,
       importance, stale, summary, source, updated_at,
       max(0, cast(julianday('now') - julianday(written_at) AS INTEGER)) AS age_days
FROM short
UNION ALL
SELECT 'long' AS tier, id, namespace, kind, memory_key, version, EXISTS (SELECT 1 FROM head h WHERE h.namespace = long.namespace AND h.memory_key = long.memory_key AND h.id = long.id) AS is_head,
       importance, stale, summary, source, updated_at,
       max(0, cast(julianday('now') - julianday(verified_at) AS INTEGER)) AS age_days
FROM long
UNION ALL
SELECT 'archive' AS tier, id, namespace, kind, memory_key, version,
       NOT EXISTS (SELECT 1 FROM head h WHERE h.namespace = archive.namespace AND h.memory_key = archive.memory_key
                   AND h.version > archive.version) AS is_head,
       importance, stale, summary, source, updated_at,
       max(0, cast(julianday('now') - julianday(written_at) AS INTEGER)) AS age_days
FROM archive;

-- Each budget in force with its use; null where the use is not counted here.
CREATE VIEW budget AS
SELECT substr(key, 9) AS budget,
       CASE substr(key, 9)
         WHEN 'active_bytes' THEN (SELECT (p.page_count - f.freelist_count) * s.page_size
                                   FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s)
         WHEN 'history_files' THEN (SELECT count(*) FROM history)
         WHEN 'store_bytes' THEN (SELECT coalesce(sum(bytes), 0) FROM history)
         WHEN 'transient_rows' THEN (SELECT rows FROM tally WHERE tier = 'transient')
         WHEN 'short_rows' THEN (SELECT rows FROM tally WHERE tier = 'short')
         WHEN 'long_rows' THEN (SELECT count(*) FROM head WHERE id IS NOT NULL)
         WHEN 'archive_rows' THEN (SELECT rows FROM tally WHERE tier = 'archive')
         WHEN 'embedding_rows' THEN (SELECT count(*) FROM embedding)
         WHEN 'embedding_bytes' THEN (SELECT coalesce(sum(length(vec)), 0) FROM embedding)
       END AS used,
       CASE WHEN value GLOB '*[^0-9]*' THEN value ELSE cast(value AS INTEGER) END AS "limit"
FROM meta
WHERE key LIKE 'budgets.%';
