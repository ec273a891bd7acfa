-- A table that carries the fence in its rows.
CREATE TABLE stock (
    item text PRIMARY KEY,
    amount bigint NOT NULL,
    token bigint NOT NULL,
    handover bigint NOT NULL
);

-- A table whose schema cannot change, and beside it the marks of the resources: one for all that one lock protects.
CREATE TABLE legacy (
    item text PRIMARY KEY,
    amount bigint NOT NULL
);

CREATE TABLE fence (
    resource text PRIMARY KEY,
    token bigint NOT NULL,
    handover bigint NOT NULL
);

-- Raises the mark, or aborts the transaction. The mark's row stays locked until the transaction ends, so the writes of two
-- holders come one after the other.
CREATE FUNCTION fence_admit(a_resource text, a_token bigint, a_handover bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fence AS mark (resource, token, handover) VALUES (a_resource, a_token, a_handover)
    ON CONFLICT (resource) DO UPDATE SET token = EXCLUDED.token, handover = EXCLUDED.handover
        WHERE (mark.token, mark.handover) <= (EXCLUDED.token, EXCLUDED.handover);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'stale token % (hand-over %): a newer holder of % has written', a_token, a_handover, a_resource;
    END IF;
END $$;
