-- Rows that left, or whose indexed text changed: what an index outside of the
-- database has to look at again. New rows it finds by their rid, which is higher
-- than all before; one that is not stands here too, and so do those that an INSERT
-- OR REPLACE puts another in the place of, which fires no trigger of a deletion.

-- +goose Up

CREATE TABLE moved (
  seq  INTEGER PRIMARY KEY AUTOINCREMENT, -- so that it never goes back
  tier TEXT    NOT NULL,
  rid  INTEGER NOT NULL
) STRICT;

-- Only the newest are kept.
-- +goose StatementBegin
CREATE TRIGGER moved_insert AFTER INSERT ON moved BEGIN
  DELETE FROM moved WHERE seq <= new.seq - 4096;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER short_moved_insert AFTER INSERT ON short WHEN new.rid < (SELECT max(rid) FROM short NOT INDEXED) BEGIN
  INSERT INTO moved (tier, rid) VALUES ('short', new.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER short_moved_replace BEFORE INSERT ON short BEGIN
  INSERT INTO moved (tier, rid) SELECT 'short', rid FROM short WHERE rid = new.rid OR id = new.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER short_moved_delete AFTER DELETE ON short BEGIN
  INSERT INTO moved (tier, rid) VALUES ('short', old.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER short_moved_update
AFTER UPDATE OF rid, namespace, summary, why, how_to_apply, memory_key, tags, kind, source, owner, session_id ON short BEGIN
  INSERT INTO moved (tier, rid) VALUES ('short', old.rid);
  INSERT INTO moved (tier, rid) SELECT 'short', new.rid WHERE new.rid <> old.rid;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER long_moved_insert AFTER INSERT ON long WHEN new.rid < (SELECT max(rid) FROM long NOT INDEXED) BEGIN
  INSERT INTO moved (tier, rid) VALUES ('long', new.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER long_moved_replace BEFORE INSERT ON long BEGIN
  INSERT INTO moved (tier, rid) SELECT 'long', rid FROM long WHERE rid = new.rid OR id = new.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER long_moved_delete AFTER DELETE ON long BEGIN
  INSERT INTO moved (tier, rid) VALUES ('long', old.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER long_moved_update
AFTER UPDATE OF rid, namespace, summary, why, how_to_apply, memory_key, tags, kind, source, owner, session_id ON long BEGIN
  INSERT INTO moved (tier, rid) VALUES ('long', old.rid);
  INSERT INTO moved (tier, rid) SELECT 'long', new.rid WHERE new.rid <> old.rid;
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER archive_moved_insert AFTER INSERT ON archive WHEN new.rid < (SELECT max(rid) FROM archive NOT INDEXED) BEGIN
  INSERT INTO moved (tier, rid) VALUES ('archive', new.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER archive_moved_replace BEFORE INSERT ON archive BEGIN
  INSERT INTO moved (tier, rid) SELECT 'archive', rid FROM archive WHERE rid = new.rid OR id = new.id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER archive_moved_delete AFTER DELETE ON archive BEGIN
  INSERT INTO moved (tier, rid) VALUES ('archive', old.rid);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER archive_moved_update
AFTER UPDATE OF rid, namespace, summary, why, how_to_apply, memory_key, tags, kind, source, owner, session_id ON archive BEGIN
  INSERT INTO moved (tier, rid) VALUES ('archive', old.rid);
  INSERT INTO moved (tier, rid) SELECT 'archive', new.rid WHERE new.rid <> old.rid;
END;
-- +goose StatementEnd
