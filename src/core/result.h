/* The meaning of a ZooKeeper answer for the protocol, apart from its code.
 *
 * A wrong guess about UNKNOWN breaks locks: the request may have been executed, or may be executed a little later. So
 * an answer that is not known to be harmless is UNKNOWN. src/zk/errors.c maps codes to these.
 */
#ifndef PDK_CORE_RESULT_H
#define PDK_CORE_RESULT_H

enum pdk__result {
    PDK__OK,
    PDK__NO_NODE,     /* not executed: no such node, or no such parent */
    PDK__NODE_EXISTS, /* not executed: it is there; of a sequential create: the counter is exhausted */
    PDK__UNKNOWN,     /* may have been executed */
    PDK__NOT_ALLOWED, /* not executed, an ACL forbids it, for good */
    PDK__NOT_NOW,     /* not executed, the server asks for a pause */
    PDK__REFUSED,     /* not executed, for good: bad arguments, unsupported, not empty */
    PDK__LIMITED,     /* not sent: a limit of ours would be crossed */
    PDK__BAD_VERSION, /* not executed: the node has another version than the request named */
};

#endif
