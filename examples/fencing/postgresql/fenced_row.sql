-- Sets :amount of :item under (:token, :handover). No row changes when a newer holder has written.
-- A writer that waits for the row's lock compares again, with the row that the other one has left.
INSERT INTO stock (item, amount, token, handover) VALUES (:'item', :amount, :token, :handover)
ON CONFLICT (item) DO UPDATE SET amount = EXCLUDED.amount, token = EXCLUDED.token, handover = EXCLUDED.handover
    WHERE (stock.token, stock.handover) <= (EXCLUDED.token, EXCLUDED.handover);
\if :ROW_COUNT
\echo written
\else
\echo refused
\endif
