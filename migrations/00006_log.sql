-- Refusals stand in the log beside writes.

-- +goose Up

-- Of a refusal: its code, the field at fault, and how many equal ones of a caller
-- the entry stands for.
ALTER TABLE audit ADD COLUMN code  TEXT;
ALTER TABLE audit ADD COLUMN field TEXT;
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
