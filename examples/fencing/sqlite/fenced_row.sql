-- Sets :amount of :item under (:token, :handover). No row changes when a newer holder has written.
INSERT INTO stock (item, amount, token, handover) VALUES (:item, :amount, :token, :handover)
ON CONFLICT (item) DO UPDATE SET amount = excluded.amount, token = excluded.token, handover = excluded.handover
    WHERE (stock.token, stock.handover) <= (excluded.token, excluded.handover);
SELECT iif(changes(), 'written', 'refused');
