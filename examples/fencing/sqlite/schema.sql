-- A table that carries the fence in its rows.
CREATE TABLE stock (
    item TEXT PRIMARY KEY,
    amount INTEGER NOT NULL,
    token INTEGER NOT NULL,
    handover INTEGER NOT NULL
);

-- A table whose schema cannot change, and beside it the marks of the resources: one for all that one lock protects.
CREATE TABLE legacy (
    item TEXT PRIMARY KEY,
    amount INTEGER NOT NULL
);

CREATE TABLE fence (
    resource TEXT PRIMARY KEY,
    token INTEGER NOT NULL,
    handover INTEGER NOT NULL
);

-- The mark never goes back: a writer that tries it loses the whole transaction.
CREATE TRIGGER fence_admit BEFORE UPDATE ON fence WHEN (NEW.token, NEW.handover) < (OLD.token, OLD.handover)
BEGIN
    SELECT RAISE(ROLLBACK, 'stale token: a newer holder has written');
END;
