# shellcheck shell=bash disable=SC2034,SC2154
# Chroots of Debian, for the scripts that source this: package, debian, arm64, reproduce. They set `root`, and call chroots_begin.
#
#   base    the smallest Debian of a suite; kept, and never used but as the source of copies
#   tools   base, with Build-Depends, lintian and autopkgtest; kept until Build-Depends change
#
# debootstrap makes them in build/package/chroot/SUITE, from the mirror of this machine. One script at a time is in a suite's.
me=${0##*/}
machine=$(awk -F = '$1 == "ID" { id = $2 } $1 == "VERSION_CODENAME" { name = $2 } END { if (id == "debian") print name }' \
    /etc/os-release) # nothing: no release of Debian
suite=${machine:-bookworm} fresh=no

say() {
    printf '%s: %s\n' "$me" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# chroots_options [ARGUMENT…]: takes --suite NAME and --fresh off them. The rest is in the array `arguments`.
chroots_options() {
    arguments=()
    while (($#)); do
        case $1 in
        --suite)
            suite=${2-}
            shift
            ;;
        --fresh) fresh=yes ;;
        *)
            arguments=("$@")
            return
            ;;
        esac
        shift || true
    done
}

# chroots_begin OUT: checks who asks and for what. Sets out=build/OUT/SUITE, which is empty then, chroots and cache.
chroots_begin() {
    ((EUID == 0)) || die "chroots take root: sudo ./run $me"
    "$root/scripts/setup" package
    [[ $suite =~ ^[a-z]+$ && -e /usr/share/debootstrap/scripts/$suite ]] || die "debootstrap knows no suite '$suite'"
    out=$root/build/$1/$suite
    chroots=$root/build/package/chroot/$suite
    cache=$root/build/package/cache/$suite # of apt: packages that were downloaded once
    test_chroot=$chroots/test              # for autopkgtest, mounted into tools
    mkdir -p "$chroots" "$cache/partial"
    exec 9>"$chroots/lock"
    flock --nonblock 9 || die "another run is in $chroots"
    trap 'rm -rf --one-file-system "$test_chroot" "$chroots"/*.part' EXIT
    rm -rf "$out"
    mkdir -p "$out"
    [[ $fresh == no ]] || rm -rf --one-file-system "${chroots:?}"/{base,tools,all,arm64,reproduce}
    if [[ ! -d $chroots/base ]]; then
        say "bootstrapping Debian $suite"
        logged base make_base
    fi
}

# logged STEP COMMAND…: what the command says goes to a file, whose end is shown when it fails.
logged() {
    local log=$out/$1.log begun=$SECONDS
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        die "this failed; all of it is in $log"
    }
    printf '%s\n' $((SECONDS - begun)) >"${log%.log}.seconds"
}

# inside CHROOT [--unshare-option…] -- COMMAND…: processes and mounts end with the command, and with this script, however that
# ends.
inside() {
    local chroot=$1 options=()
    shift
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child "${options[@]}" bash -euc '
        chroot=$1 cache=$2 other=$3
        shift 3
        ip link set lo up 2>/dev/null || true # of a network of its own, where it has one
        equip() {
            mount --bind "$cache" "$1/var/cache/apt/archives"
            mount -t proc proc "$1/proc"
            mount -t devpts -o newinstance,ptmxmode=666 devpts "$1/dev/pts"
        }
        equip "$chroot"
        if [[ -d $other && -d $chroot/srv/test ]]; then
            mount --bind "$other" "$chroot/srv/test"
            equip "$chroot/srv/test"
        fi
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/nonexistent TMPDIR=/tmp DEBIAN_FRONTEND=noninteractive \
            chroot "$chroot" "$@"' inside "$chroot" "$cache" "$test_chroot" "$@"
}

# The mirror of this machine, with the name of the suite for that of the machine's release; or the one that anybody can use.
sources() {
    local found=''
    if [[ $machine ]]; then
        # shellcheck disable=SC2016 # apt fills these in
        found=$(apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) main' 'Created-By: Packages' |
            sed -nE "s/ $machine(-updates|-security)? main\$/ $suite\1 main/p" | sort -u)
    fi
    printf '%s\n' "${found:-deb http://deb.debian.org/debian $suite main}"
}

make_base() {
    local base=$chroots/base.part mirror
    mirror=$(sources | awk -v suite="$suite" '$3 == suite { print $2; exit }')
    [[ -n $mirror ]] || die "no mirror: $(sources)"
    rm -rf --one-file-system "$base"
    debootstrap --variant=minbase --cache-dir="$cache" "$suite" "$base" "$mirror"
    sources >"$base/etc/apt/sources.list"
    # What apt is told here about its way to the mirror holds there as well.
    apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$base/etc/apt/apt.conf.d/80machine" || true
    printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' >"$base/etc/apt/apt.conf.d/90package"
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/90package" # nobody misses a chroot that a power failure has spoilt
    printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d" # no service starts
    chmod 755 "$base/usr/sbin/policy-rc.d"
    cp --remove-destination /etc/resolv.conf /etc/hosts "$base/etc/"
    inside "$base" -- apt-get update
    inside "$base" -- apt-get dist-upgrade --yes
    mv "$base" "$chroots/base"
}

# copy FROM NAME: a copy of that chroot.
copy() {
    rm -rf --one-file-system "${chroots:?}/$2"
    cp -a --reflink=auto "$chroots/$1" "$chroots/$2"
}

# export_to FOLDER: the last commit, without what git knows of it.
export_to() {
    mkdir -p "$1"
    git -C "$root" archive HEAD | tar -x -C "$1"
}

# need NAME FILE MAKE: a chroot that is kept until that file changes. MAKE makes it, in $chroots/NAME.part.
need() {
    local name=$1 made_for make=$3
    made_for=$(cat "$2")
    if [[ ! -e $chroots/$name/srv/made-for || $made_for != "$(<"$chroots/$name/srv/made-for")" ]]; then
        say "making the chroot '$name' of Debian $suite"
        logged "$name" "$make"
        printf '%s\n' "$made_for" >"$chroots/$name.part/srv/made-for"
        rm -rf --one-file-system "${chroots:?}/$name"
        mv "$chroots/$name.part" "$chroots/$name"
    fi
}

# For dpkg-buildpackage: reads $export.
make_tools() {
    copy base tools.part
    local tools=$chroots/tools.part
    mkdir "$tools/srv/packaging" "$tools/srv/test"
    cp -r "$export/debian" "$tools/srv/packaging/"
    inside "$tools" -- apt-get install --yes build-essential lintian autopkgtest
    inside "$tools" -- sh -c 'cd /srv/packaging && apt-get build-dep --yes ./'
    inside "$tools" -- useradd --create-home --home-dir /build builder
}
