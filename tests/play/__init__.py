"""What trials, docker/chaos and interop share in Python. The C library of this folder has what their C players share.

    processes    a child process with pipes; where the build is
    bench        the build's programs, a ZooKeeper server, and the processes of a run
    event_log    writes the log of a player or of the driver
    logbook      reads these logs while they grow
    spans        from when until when each grant was valid
    exclusion    grants that exclude each other and were valid at one instant
    tokens       fencing tokens in order, and with one owner
    nodes        the nodes on the servers
    tables       tables for people
    tamper       logs that are made up, for the tests of judges
    selftests    runs such tests

An entry script puts tests/ at the head of sys.path. Modules never do that.
"""
