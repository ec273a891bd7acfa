# fish completion for paddock(1)

# Is the verb one of these?
function __paddock_verb
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end

# Has the command begun?
function __paddock_command
    contains -- -- (commandline -opc)
end

function __paddock_first
    test (count (commandline -opc)) -eq 1
end

complete -c paddock -f
complete -c paddock -n __paddock_first -l help -d 'show the verbs'
complete -c paddock -n __paddock_first -s V -l version -d 'show the version'
complete -c paddock -n __paddock_first -a run -d 'run a command while holding a lock'
complete -c paddock -n __paddock_first -a hold -d 'hold a lock without a command'
complete -c paddock -n __paddock_first -a elect -d 'run a command while being the leader'
complete -c paddock -n __paddock_first -a job -d 'run a command once per period across a fleet'
complete -c paddock -n __paddock_first -a wait -d 'wait until a lock is free'
complete -c paddock -n __paddock_first -a show -d 'show who holds a lock, and who waits for it'
complete -c paddock -n __paddock_first -a watch -d 'show a queue as it changes'
complete -c paddock -n __paddock_first -a ls -d 'list directories, and the recipes that work in them'
complete -c paddock -n __paddock_first -a top -d 'show the longest queues'
complete -c paddock -n __paddock_first -a check -d 'check whether a sequencer still holds'
complete -c paddock -n __paddock_first -a doctor -d 'test what is assumed of the servers'
complete -c paddock -n __paddock_first -a ask -d 'ask a holder to let go'
complete -c paddock -n __paddock_first -a break -d 'delete the node of a holder, if it has the token'
complete -c paddock -n __paddock_first -a fence -d 'run a command if a fence in a file admits its token'
complete -c paddock -n __paddock_first -a server -d 'start a throw-away ZooKeeper, for tests'
complete -c paddock -n __paddock_first -a help -d 'show the help of a verb'

# Every verb that talks to servers.
set -l servers '__paddock_verb run hold elect job wait show watch ls top check doctor ask break'
complete -c paddock -n $servers -s s -l servers -x -d 'host:port,…/chroot'
complete -c paddock -n $servers -l config -r -F -d 'read this file, and no other configuration'
complete -c paddock -n $servers -l accept-unprotected -d 'others may change the directory: it is meant'
complete -c paddock -n $servers -l digest-file -r -F -d 'user:password is in this file'
complete -c paddock -n $servers -l digest-fd -x -d 'user:password can be read from this descriptor'
complete -c paddock -n $servers -l session-timeout -x -d 'time, of the session'
complete -c paddock -n $servers -l connect-timeout -x -d 'time, for the first answer'
complete -c paddock -n $servers -l token-base -x -d 'the generation before every token'

set -l all '__paddock_verb run hold elect job wait show watch ls top check doctor ask break fence server'
complete -c paddock -n '__paddock_verb help' -l help -d 'show the options'
complete -c paddock -n '__paddock_verb help' -a 'run hold elect job wait show watch ls top check doctor ask break fence server help'
complete -c paddock -n $all -s v -l verbose -d 'say what happens'
complete -c paddock -n $all -s q -l quiet -d 'say nothing'
complete -c paddock -n $all -l timestamps -d 'say when'
complete -c paddock -n $all -l help -d 'show the options'

complete -c paddock -n '__paddock_verb run hold wait show watch' -l shared -d 'the read/write lock at the path, to read'
complete -c paddock -n '__paddock_verb run hold wait show watch' -l slots -x -d 'N[/K]: the semaphore at the path'
complete -c paddock -n '__paddock_verb run hold elect wait show watch ls top' -l naming -x -a 'curator kazoo' -d 'of the nodes, which other clients see'
complete -c paddock -n '__paddock_verb run hold elect job' -l no-create -d 'refuse to make a chroot that is missing'
complete -c paddock -n '__paddock_verb run hold wait' -s w -l wait -x -d 'time: wait no longer'
complete -c paddock -n '__paddock_verb run hold wait' -s E -l conflict-exit-code -x -d 'exit status when it is taken'
complete -c paddock -n '__paddock_verb run hold' -s n -l try -d 'do not wait'
complete -c paddock -n '__paddock_verb run hold' -s x -l exclusive -d 'the lock, and not --shared: the default'
complete -c paddock -n '__paddock_verb run elect job' -s c -l command -x -d 'run this text by /bin/sh'
complete -c paddock -n '__paddock_verb run hold elect' -l lock-delay -x -d 'time: nobody is granted after an end without a release'
complete -c paddock -n '__paddock_verb run hold' -l label -x -d 'appended to the identity that others see'
complete -c paddock -n '__paddock_verb run hold elect job' -l on-ask -x -a 'ignore term' -d 'when somebody asks for the lock'
complete -c paddock -n '__paddock_verb run elect job' -l timing -d 'say when TERM and KILL come'
complete -c paddock -n '__paddock_verb run elect job' -l max-hold -x -d 'time: end the command then'
complete -c paddock -n '__paddock_verb run elect job' -l on-suspend -x -a 'ignore stop term' -d 'when the connection is lost'
complete -c paddock -n '__paddock_verb hold' -l ready-fd -x -d 'write the sequencer to it once held'
complete -c paddock -n '__paddock_verb hold' -l stdin -d 'end when standard input ends'
complete -c paddock -n '__paddock_verb hold' -l notify -d 'tell systemd'
complete -c paddock -n '__paddock_verb elect' -l id -x -d 'the identity that others see'
complete -c paddock -n '__paddock_verb elect' -l on-elected -x -d 'run before the command'
complete -c paddock -n '__paddock_verb elect' -l on-deposed -x -d 'run after each term'
complete -c paddock -n '__paddock_verb elect' -l on-leader -x -d 'run when the leader has changed'
complete -c paddock -n '__paddock_verb elect' -l check -x -d 'stand only while this succeeds'
complete -c paddock -n '__paddock_verb elect' -l check-every -x -d 'time: how often, and how long'
complete -c paddock -n '__paddock_verb elect' -l pause -x -d 'time, after a term that ended by itself'
complete -c paddock -n '__paddock_verb elect' -l listen -x -d '[address:]port: answer by HTTP'
complete -c paddock -n '__paddock_verb elect' -l observe -d 'print each leader'
complete -c paddock -n '__paddock_verb elect job wait show watch ls top check doctor ask break fence' -l json -d 'print JSON'
complete -c paddock -n '__paddock_verb job' -l every -x -d 'the period: 90s, 15m, 1h; or five fields of cron'
complete -c paddock -n '__paddock_verb job' -l at -x -d 'HH:MM[:SS]: when a period ends and the next begins'
complete -c paddock -n '__paddock_verb job' -l tz -x -d 'days of this time zone: Europe/Berlin'
complete -c paddock -n '__paddock_verb job' -l at-least -x -d 'no other run so soon after the start of one'
complete -c paddock -n '__paddock_verb job' -l at-most -x -d 'end the command then'
complete -c paddock -n '__paddock_verb job' -l retry -d 'run in a period again whose run died'
complete -c paddock -n '__paddock_verb job' -l keep -x -d 'how many runs the record keeps'
complete -c paddock -n '__paddock_verb job' -l history -d 'print the last runs, and run nothing'
complete -c paddock -n '__paddock_verb ask' -l node -x -d 'this contender, not the holders'
complete -c paddock -n '__paddock_verb ask' -l who -x -d 'who asks'
complete -c paddock -n '__paddock_verb ask' -l within -x -d 'time: the time that the holder has'
complete -c paddock -n '__paddock_verb break' -l token -x -d 'only if the node has this token'
complete -c paddock -n '__paddock_verb watch top' -l every -x -d 'time: look so often'
complete -c paddock -n '__paddock_verb show watch top' -l long -d 'since when, the node, and the rest, too'
complete -c paddock -n '__paddock_verb show' -l exit-code -d 'end with 1 when nobody holds it'
complete -c paddock -n '__paddock_verb top' -l once -d 'print once, on a terminal, too'
complete -c paddock -n '__paddock_verb top' -l limit -x -d 'show so many'
complete -c paddock -n '__paddock_verb doctor' -l idle -x -d 'time: a container is empty no longer'
complete -c paddock -n '__paddock_verb fence' -l create -d 'make the file if it is missing'
complete -c paddock -n '__paddock_verb fence' -l shared -d 'the token is a reader\'s'
complete -c paddock -n '__paddock_verb server' -l ensemble -x -a '1 3' -d 'so many servers'
complete -c paddock -n '__paddock_verb server' -l tick -x -d 'ms: tickTime'
complete -c paddock -n '__paddock_verb server' -l port -x -d 'for clients'
complete -c paddock -n '__paddock_verb server' -l data -r -F -d 'keep the data in this folder'
complete -c paddock -n '__paddock_verb fence; and not __paddock_command' -F

# After "--" it is the command's own completion.
complete -c paddock -n __paddock_command -x -a '(__fish_complete_subcommand --fcs-skip=(math (contains -i -- -- (commandline -opc)) - 1))'
