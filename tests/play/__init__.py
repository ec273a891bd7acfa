"""What the runs of players share in Python: those of docker/chaos in containers, those of tests/trials on this machine, and interop.
tests/players has the players in C, tests/judges reads what they have logged.

    processes    a child process with pipes; where the build is
    bench        the build's programs, a ZooKeeper server, and the processes of a run
    ground       servers, and sites in which players run
    players      the player processes of a run; recipes: what they play of each, and with which numbers
    faults       what is done to them (faults_client, faults_data); schedule: faults side by side, and the calms between
    present      who holds and who waits now; records: the records of jobs and lease locks; wallclock: the clock of a site
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
