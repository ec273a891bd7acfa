"""The grants that an administrator took, by deleting the nodes that they stand on. The next grant follows at once,
while the old one stays valid until word of the deletion comes, at most until its lease ends. This overlap is no
fault of ours.

The driver notes the token of each node that it deletes. Sometimes that does not tell the grant: the hold may have
several nodes, or another node than at first, or no token. Then each grant that may have been hit counts as hit.
"""


def by_its_token(hold):
    """Whether the hold has one node, and that node's token."""
    return (hold.player.ours and hold.token > 0 and int(hold.fields.get("count", "1")) == 1
            and all(span.kind == hold.claim.kind for span in hold.spans))


def may_have_been(record, fault, hold):
    """Whether its node may have been among the deleted ones: it was claimed before the last deletion, and valid no
    longer than word of that may take. A server that lags may also have granted it after the deletion."""
    over = fault.struck if fault.inflicted else record.until(fault)
    return hold.claim.asked <= over and fault.begin <= hold.over() and hold.last <= record.aftermath(fault)


def was(record, fault, hold):
    if hold.parts:
        return any(was(record, fault, part) for part in hold.parts)
    if record.tokens_deleted and fault.inflicted and by_its_token(hold):
        return str(hold.token) in fault.deleted
    return may_have_been(record, fault, hold)


def taken(record, hold):
    """From when until when it was valid only because an administrator had deleted its node. None: never."""
    those = [fault for fault in record.takers.get(hold.player.path, ()) if was(record, fault, hold)]
    if not those:
        return None
    return min(fault.begin for fault in those), max(record.aftermath(fault) for fault in those)
