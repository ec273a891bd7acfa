-- A table that carries the fence in its rows. The revision makes every admitted write change its row: by default ROW_COUNT()
-- counts the rows that changed, and a holder may write the same values twice.
CREATE TABLE stock (
    item VARCHAR(200) PRIMARY KEY,
    amount BIGINT NOT NULL,
    token BIGINT NOT NULL,
    handover BIGINT NOT NULL,
    revision BIGINT NOT NULL
) ENGINE = InnoDB;

-- A table whose schema cannot change, and beside it the marks of the resources: one for all that one lock protects.
CREATE TABLE legacy (
    item VARCHAR(200) PRIMARY KEY,
    amount BIGINT NOT NULL
) ENGINE = InnoDB;

CREATE TABLE fence (
    resource VARCHAR(200) PRIMARY KEY,
    token BIGINT NOT NULL,
    handover BIGINT NOT NULL
) ENGINE = InnoDB;

-- Raises the mark, or signals an error: the caller rolls back. The mark's row stays locked until the transaction ends, so the
-- writes of two holders come one after the other. Assignments are made from left to right, so the hand-over's is first.
DELIMITER //
CREATE PROCEDURE fence_admit(a_resource VARCHAR(200), a_token BIGINT, a_handover BIGINT)
BEGIN
    INSERT INTO fence (resource, token, handover) VALUES (a_resource, a_token, a_handover)
    ON DUPLICATE KEY UPDATE
        handover = IF(a_token > token, a_handover, IF(a_token = token, GREATEST(handover, a_handover), handover)),
        token = GREATEST(token, a_token);
    IF NOT EXISTS (SELECT 1 FROM fence
                   WHERE resource = a_resource AND token = a_token AND handover = a_handover FOR UPDATE) THEN
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stale token: a newer holder has written';
    END IF;
END //
DELIMITER ;
