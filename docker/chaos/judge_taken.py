"""Which rights an administrator took, by deleting the nodes by which they were held: the next one is granted them at once,
and who had them believes on until word comes, at the longest until the lease ends. That much is no fault of ours.

The driver notes the token of each node that it deletes. Where that does not tell whose right it was (it has several nodes, or
another than at first, or no token), whoever may have been hit counts as hit.
"""


def by_its_token(hold):
    """Whether it has one node, and that one's token."""
    return (hold.player.ours and int(hold.fields.get("count", "1")) == 1
            and all(span.kind == hold.claim.kind for span in hold.spans))


def may_have_been(record, fault, hold):
    """It may have had a node before the last was deleted, and was believed for no longer than word of that may take. It may
    also have been granted after that, by a server that lags; and nobody may have looked at it since."""
    over = fault.struck if fault.inflicted else record.until(fault)
    return hold.claim.asked <= over and fault.begin <= hold.over() and hold.last <= record.aftermath(fault)


def was(record, fault, hold):
    if record.tokens_deleted and fault.inflicted and by_its_token(hold):
        return str(hold.token) in fault.deleted
    return may_have_been(record, fault, hold)


def taken(record, hold):
    """From when until when its belief is an administrator's doing; None: never."""
    those = [fault for fault in record.takers.get(hold.player.path, ()) if was(record, fault, hold)]
    if not those:
        return None
    return min(fault.begin for fault in those), max(record.aftermath(fault) for fault in those)
