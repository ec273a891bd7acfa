#compdef paddock
# zsh completion for paddock(1)

_paddock() {
    local -a verbs always kind naming making wait claim delay asked run elect json text long command
    verbs=(
        'run:run a command while holding a lock'
        'hold:hold a lock without a command'
        'elect:run a command while being the leader'
        'job:run a command once per period across a fleet'
        'wait:wait until a lock is free'
        'show:show who holds a lock, and who waits for it'
        'watch:show a queue as it changes'
        'ls:list directories, and the recipes that work in them'
        'top:show the longest queues'
        'check:check whether a sequencer still holds'
        'doctor:test what is assumed of the servers'
        'ask:ask a holder to let go'
        'break:delete the node of a holder, if it has the token'
        'fence:run a command if a fence in a file admits its token'
        'server:start a throw-away ZooKeeper, for tests'
        'help:show the help of a verb'
    )
    always=(
        '(-s --servers)'{-s,--servers}'[host\:port,…/chroot]:servers:'
        '--config[read this file, and no other configuration]:file:_files'
        '--accept-unprotected[others may change the directory\: it is meant]'
        '--digest-file[user\:password is in FILE]:file:_files'
        '--digest-fd[user\:password can be read from descriptor N]:descriptor:'
        '--session-timeout[of the session]:time:'
        '--connect-timeout[for the first answer]:time:'
        '--token-base[the generation before every token]:number:'
        '(-v --verbose)'{-v,--verbose}'[say what happens]'
        '(-q --quiet)'{-q,--quiet}'[say nothing]'
        '--timestamps[say when]'
        '--help[show the options]'
    )
    kind=('--shared[the read/write lock at the path, to read]' '--slots[the semaphore of N permits at the path]:N[/K]:')
    naming=('--naming[of the nodes, which other clients see]:client:(curator kazoo)')
    making=('--no-create[refuse to make a chroot that is missing]')
    wait=(
        '(-w --wait)'{-w,--wait}'[wait no longer than this]:time:'
        '(-E --conflict-exit-code)'{-E,--conflict-exit-code}'[exit status when it is taken]:code:'
    )
    claim=(
        '(-n --try)'{-n,--try}'[do not wait]'
        '(-x --exclusive)'{-x,--exclusive}'[the lock, and not --shared\: the default]'
        '--label[appended to the identity that others see]:text:'
    )
    delay=('--lock-delay[after an end without a release nobody is granted for so long]:time:')
    asked=('--on-ask[when somebody asks for the lock]:what:(ignore term)')
    run=(
        '--timing[say when TERM and KILL come]'
        '--max-hold[end the command after this time]:time:'
        '--on-suspend[when the connection is lost]:what:(ignore stop term)'
    )
    elect=(
        '--id[the identity that others see]:name:'
        '--on-elected[run before the command]:command:_cmdstring'
        '--on-deposed[run after each term]:command:_cmdstring'
        '--on-leader[run when the leader has changed]:command:_cmdstring'
        '--check[stand only while this succeeds]:command:_cmdstring'
        '--check-every[how often, and how long it may take]:time:'
        '--pause[after a term that ended by itself]:time:'
        '--listen[answer /leader, /healthz and /metrics by HTTP]:[address\:]port:'
        '--observe[print each leader, and stand for nothing]'
    )
    json=('--json[print JSON]')
    text=('(-c --command)'{-c,--command}'[run this text by /bin/sh]:text:_cmdstring')
    long=('--long[since when, the node, and the rest, too]')
    command=('*::command:_normal')

    if ((CURRENT == 2)); then
        _describe verb verbs
        _values option '--help[show the verbs]' '-V[show the version]' '--version[show the version]'
        return
    fi
    local verb=$words[2]
    shift words
    ((CURRENT--))
    case $verb in
    run) _arguments -S $always $kind $naming $making $wait $claim $delay $asked $run $text '1:path:' $command ;;
    hold)
        _arguments -S $always $kind $naming $making $wait $claim $delay $asked '--ready-fd[write the sequencer to it once held]:descriptor:' \
            '--stdin[end when standard input ends]' '--notify[tell systemd]' '1:path:'
        ;;
    elect) _arguments -S $always $naming $making $delay $asked $run $elect $json $text '1:path:' $command ;;
    job)
        _arguments -S $always $making $asked $run $json $text '--every[the period\: 90s, 15m, 1h; or five fields of cron]:time:' \
            '--at[when a period ends and the next begins]:HH\:MM[\:SS]:' '--tz[days of this time zone\: Europe/Berlin]:zone:' \
            '--at-least[no other run so soon after the start of one]:time:' '--at-most[end the command then]:time:' \
            '--retry[run in a period again whose run died]' '--keep[how many runs the record keeps]:number:' \
            '--history[print the last runs, and run nothing]' '1:path:' $command
        ;;
    wait) _arguments -S $always $kind $naming $wait $json '1:path:' ;;
    show) _arguments -S $always $kind $naming $json $long '--exit-code[end with 1 when nobody holds it]' '1:path:' ;;
    watch) _arguments -S $always $kind $naming $json $long '--every[look so often]:time:' '1:path:' ;;
    ls) _arguments -S $always $naming $json '1:path:' ;;
    top) _arguments -S $always $naming $json $long '--limit[show so many]:number:' '--once[print once, on a terminal, too]' '--every[look so often]:time:' '1:path:' ;;
    doctor) _arguments -S $always $json '--idle[a container is empty no longer than this]:time:' '1:path:' ;;
    ask)
        _arguments -S $always $json '--node[this contender, not the holders]:name:' '--who[who asks]:text:' \
            '--within[the time that the holder has]:time:' '1:path:'
        ;;
    break) _arguments -S $always $json '--token[only if the node has this token]:token:' '1:node:' ;;
    check) _arguments -S $always $json '1:sequencer:' ;;
    help) _arguments -S '--help[show the options]' "1:verb:(${(j: :)${(@)verbs%%:*}})" ;;
    fence)
        _arguments -S '--create[make the file if it is missing]' "--shared[the token is a reader's]" $json \
            '(-v --verbose)'{-v,--verbose}'[say what happens]' '(-q --quiet)'{-q,--quiet}'[say nothing]' '--timestamps[say when]' \
            '--help[show the options]' '1:file:_files' '2:token:' $command
        ;;
    server)
        _arguments -S '--ensemble[so many servers]:number:(1 3)' '--tick[tickTime]:time:' '--port[for clients]:port:' \
            '--data[keep the data in this folder]:folder:_files -/' \
            '(-v --verbose)'{-v,--verbose}'[say what happens]' '(-q --quiet)'{-q,--quiet}'[say nothing]' '--timestamps[say when]' \
            '--help[show the options]' $command
        ;;
    esac
}

_paddock "$@"
