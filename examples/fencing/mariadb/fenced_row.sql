-- Sets @amount of @item under (@token, @handover). No row changes when a newer holder has written.
INSERT IGNORE INTO stock (item, amount, token, handover, revision) VALUES (@item, 0, 0, 0, 0);
UPDATE stock SET amount = @amount, token = @token, handover = @handover, revision = revision + 1
WHERE item = @item AND (token, handover) <= (@token, @handover);
SELECT IF(ROW_COUNT() > 0, 'written', 'refused');
