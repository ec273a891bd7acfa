-- Sets :amount of :item under (:token, :handover), where the table knows nothing of tokens. The fence comes first, since
-- it does not protect earlier reads and writes. The client stops at the error of a stale token.
BEGIN IMMEDIATE;
INSERT INTO fence (resource, token, handover) VALUES (:item, :token, :handover)
ON CONFLICT (resource) DO UPDATE SET token = excluded.token, handover = excluded.handover;
INSERT INTO legacy (item, amount) VALUES (:item, :amount) ON CONFLICT (item) DO UPDATE SET amount = excluded.amount;
COMMIT;
SELECT 'written';
