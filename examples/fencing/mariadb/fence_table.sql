-- Sets @amount of @item under (@token, @handover), where the table knows nothing of tokens. The fence comes first, since
-- it does not protect earlier reads and writes. The client stops at the error of a stale token, and so nothing is committed.
START TRANSACTION;
CALL fence_admit(@item, @token, @handover);
INSERT INTO legacy (item, amount) VALUES (@item, @amount) ON DUPLICATE KEY UPDATE amount = @amount;
COMMIT;
SELECT 'written';
