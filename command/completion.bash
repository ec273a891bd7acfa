# bash completion for paddock(1)
_paddock() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]} i
    local common='-s --servers --config --digest-file --digest-fd --accept-unprotected --session-timeout --connect-timeout --token-base -v --verbose -q --quiet --timestamps --help'
    local claim='-n --try -x --exclusive -w --wait --shared --slots -E --conflict-exit-code --label --lock-delay --on-ask --naming --no-create'
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'run hold elect job wait show watch ls top check doctor ask break fence server help --help -V --version' -- "$word")
        return
    fi
    if [[ $verb == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'run hold elect job wait show watch ls top check doctor ask break fence server help --help' -- "$word")
        return
    fi
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} == -- ]] && declare -F _command_offset >/dev/null; then
            _command_offset $((i + 1))
            return
        fi
    done
    case $before in
    --config | --digest-file)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --data)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    --on-suspend)
        mapfile -t COMPREPLY < <(compgen -W 'ignore stop term' -- "$word")
        return
        ;;
    --naming)
        mapfile -t COMPREPLY < <(compgen -W 'curator kazoo' -- "$word")
        return
        ;;
    --on-ask)
        mapfile -t COMPREPLY < <(compgen -W 'ignore term' -- "$word")
        return
        ;;
    esac
    case $verb in
    run) mapfile -t COMPREPLY < <(compgen -W "$common $claim -c --command --timing --max-hold --on-suspend" -- "$word") ;;
    hold) mapfile -t COMPREPLY < <(compgen -W "$common $claim --ready-fd --stdin --notify" -- "$word") ;;
    elect)
        mapfile -t COMPREPLY < <(compgen -W "$common -c --command --timing --max-hold --on-suspend --on-ask --lock-delay --naming --no-create --id --on-elected --on-deposed --on-leader \
            --check --check-every --pause --listen --observe --json" -- "$word")
        ;;
    job) mapfile -t COMPREPLY < <(compgen -W "$common -c --command --timing --max-hold --on-suspend --on-ask --no-create --json --every --at --tz --at-least --at-most --retry --keep --history" -- "$word") ;;
    wait) mapfile -t COMPREPLY < <(compgen -W "$common --shared --slots --naming -w --wait -E --conflict-exit-code --json" -- "$word") ;;
    show) mapfile -t COMPREPLY < <(compgen -W "$common --shared --slots --naming --json --long --exit-code" -- "$word") ;;
    watch) mapfile -t COMPREPLY < <(compgen -W "$common --shared --slots --naming --json --every --long" -- "$word") ;;
    ls) mapfile -t COMPREPLY < <(compgen -W "$common --naming --json" -- "$word") ;;
    top) mapfile -t COMPREPLY < <(compgen -W "$common --naming --json --limit --once --every --long" -- "$word") ;;
    fence)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -W '--create --shared --json -v --verbose -q --quiet --timestamps --help' -- "$word"; compgen -f -- "$word")
        ;;
    server) mapfile -t COMPREPLY < <(compgen -W '--ensemble --tick --port --data -v --verbose -q --quiet --timestamps --help' -- "$word") ;;
    doctor) mapfile -t COMPREPLY < <(compgen -W "$common --json --idle" -- "$word") ;;
    ask) mapfile -t COMPREPLY < <(compgen -W "$common --json --node --who --within" -- "$word") ;;
    break) mapfile -t COMPREPLY < <(compgen -W "$common --json --token" -- "$word") ;;
    check) mapfile -t COMPREPLY < <(compgen -W "$common --json" -- "$word") ;;
    esac
}
complete -F _paddock paddock
