#!/bin/bash
# The README's two commands as a newcomer runs them who has little: a new Debian with its own nodejs and npm and nothing else (no
# compiler, curl, IPv6 or name service while the daemon and the tests run), as root, the clone under /root, CI=true. For root; needs
# mmdebstrap, and the npm registry during `npm ci`.
#   newcomer.sh FOLDER [RELEASE] [PACKAGE,PACKAGE]   RELEASE: trixie unless given; more packages: for example openssl,curl
# The system is made in FOLDER, unless it is there. Clones the last commit. Ends with 0 if all three steps succeed.
set -uo pipefail
[ $# -ge 1 ] && [ "$(id -u)" = 0 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
system=$(realpath -m "$1") release=${2:-trixie} more=${3:+,$3}
project=$(cd "$(dirname "$0")/../.." && pwd)
[ -d "$system/usr" ] || mmdebstrap --quiet --variant=minbase --include="nodejs,npm,ca-certificates$more" "$release" "$system" >&2 || exit 2
# This machine's way to the registry: its addresses, name service and certificates, for `npm ci` only.
printf '127.0.0.1 localhost\n' > "$system/etc/hosts"
cp /etc/resolv.conf "$system/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/ca-certificates.crt"
registry=$(npm config get registry)
rm -rf "$system/root/project"
git clone -q --depth 1 "file://$project" "$system/root/project" || exit 2

# inside NETWORK COMMAND: in the system, with this machine's network (`shared`) or with a loopback interface without IPv6 (`alone`).
inside() {
  unshare --mount --pid --fork --ipc $([ "$1" = shared ] || echo --net) bash -ec '
    cd "$1"
    mount --make-rprivate /
    mount -t proc proc proc
    mount -t tmpfs -o mode=755 tmpfs dev
    mkdir dev/pts dev/shm
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    mount -t tmpfs -o size=64m,mode=1777 tmpfs dev/shm
    mount -t tmpfs -o mode=1777 tmpfs tmp
    for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
    if [ "$2" = alone ]; then
      ip link set lo up
      for which in all default lo; do echo 1 > /proc/sys/net/ipv6/conf/$which/disable_ipv6; done
    fi
    exec chroot . env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root CI=true \
      NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_registry="$3" npm_config_audit=false \
      sh -c "cd /root/project && $4"
  ' bash "$system" "$1" "$registry" "$2"
}

failed=0
# step NAME NETWORK COMMAND
step() {
  local from=$SECONDS
  if inside "$2" "$3" > "$system.$1.log" 2>&1; then
    echo "$1: passed, $((SECONDS - from)) s"
  else
    echo "$1: FAILED ($?), $((SECONDS - from)) s; the end of $system.$1.log:"
    tail -60 "$system.$1.log"
    failed=1
  fi
}
step install shared 'npm ci'
[ "$failed" = 0 ] || exit 1
# The address and the password are those of the printed curl line.
step start alone '
  npm start > /tmp/out 2>&1 &
  for i in $(seq 300); do
    sleep 0.2
    ! grep -q "\"msg\":\"ready\"" /tmp/out || break
  done
  cat /tmp/out
  sed -n "s/^ *curl -u .\(admin:[^ ]*\). \(http[^ ]*List\)$/\1 \2/p" /tmp/out | { read -r login url; LOGIN=$login node -e "
    const authorization = \"Basic \" + Buffer.from(process.env.LOGIN).toString(\"base64\");
    fetch(process.argv[1], { headers: { authorization } }).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1));" "$url"; }'
step test alone 'npm test'
# The last lines say how much was skipped.
tail -3 "$system.test.log"
exit $failed
