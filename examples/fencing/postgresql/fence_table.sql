-- Sets :amount of :item under (:token, :handover), where the table knows nothing of tokens. The fence comes first, since
-- it does not protect earlier reads and writes.
BEGIN;
SELECT FROM fence_admit(:'item', :token, :handover);
INSERT INTO legacy (item, amount) VALUES (:'item', :amount)
ON CONFLICT (item) DO UPDATE SET amount = EXCLUDED.amount;
COMMIT;
\echo written
