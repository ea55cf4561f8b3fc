#!/bin/bash
# The Debian package under a real systemd, in namespaces of its own (no virtual machine, no container engine): restarts, upgrades and
# broken programs under players, of whom no session may end. For root; needs mmdebstrap, and what test/tools/package-deb.mjs needs.
#   try-systemd.sh                    2,000 idle sessions, 250 others, 20 restarts, 5 upgrades: about 10 minutes
#   try-systemd.sh --short            135 sessions, 3 restarts, one upgrade, one broken program: for .ci/run
#   … --release RELEASE --node FILE   another release of Debian than trixie, and this program in place of its nodejs
#   … --deb FILE                      this package, which it does not build then
set -euo pipefail
usage() { sed -n '2,7s/^# //p' "$0" >&2; exit 2; }
extent=whole release=trixie node='' deb=''
while [ $# -gt 0 ]; do
  case "$1" in
    --short) extent=short; shift ;;
    --release | --node | --deb) [ $# -ge 2 ] || usage; declare "${1#--}=$2"; shift 2 ;;
    *) usage ;;
  esac
done
[ "$(id -u)" = 0 ] || { echo 'for root only' >&2; exit 1; }
project=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
root=$work/debian
init=
finish() {
  # With process 1 of its namespace, everything in it ends.
  [ -z "$init" ] || { kill -9 "$init" && tail --pid="$init" -f /dev/null; } 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap finish EXIT

# The short form skips a machine that cannot boot one, also in .ci/run: no package gives it what it lacks.
cannot() { echo "systemd: $1"; [ "$extent" = short ] || exit 1; echo 'systemd: skipped'; exit 0; }
unshare --mount --pid --fork --uts --ipc --net --cgroup true 2>"$work/unshare.log" ||
  cannot "this machine gives no namespaces: $(cat "$work/unshare.log")"

# The package, and the same with another version number.
if [ -z "$deb" ]; then
  cd "$project"
  npm pack --silent --pack-destination "$work" >/dev/null
  node test/tools/package-deb.mjs --out "$work" --tarball "$work"/pulsegate-*.tgz >/dev/null
  deb=$(echo "$work"/pulsegate_*.deb)
fi
dpkg-deb -R "$deb" "$work/other"
version=$(dpkg-deb --field "$deb" Version)
sed -i "s/^Version: .*/Version: $version.1/" "$work/other/DEBIAN/control"
sed -i "s/^  \"version\": \"$version\"/  \"version\": \"$version.1\"/" "$work/other/usr/lib/pulsegate/package.json"
dpkg-deb --root-owner-group -Zgzip -z1 -b "$work/other" "$work/other.deb" >/dev/null

packages=systemd,systemd-sysv,dbus,adduser,debconf,iproute2,procps,curl,sqlite3
if [ -z "$node" ]; then
  packages=$packages,nodejs
else
  mkdir -p "$work/nodejs/DEBIAN" "$work/nodejs/usr/bin"
  cp -L "$node" "$work/nodejs/usr/bin/node"
  printf 'Package: nodejs\nVersion: %s\nArchitecture: %s\nMaintainer: nobody\nDescription: Node\n' \
    "$("$node" -p process.versions.node)" "$(dpkg --print-architecture)" > "$work/nodejs/DEBIAN/control"
  dpkg-deb -Zgzip -z1 -b "$work/nodejs" "$work/nodejs.deb" >/dev/null
fi
mmdebstrap --quiet --variant=minbase --include="$packages" "$release" "$root" >&2
printf '127.0.0.1 localhost\n::1 localhost\n' > "$root/etc/hosts"
: > "$root/etc/fstab"
ln -sf /dev/null "$root/etc/systemd/system/systemd-modules-load.service"
mkdir "$root/try"
cp "$project"/test/tools/try-systemd/*.mjs "$root/try/"
cp "$deb" "$root/try/this.deb"
cp "$work/other.deb" "$root/try/other.deb"
[ -z "$node" ] || { cp "$work/nodejs.deb" "$root/try/"; chroot "$root" dpkg -i /try/nodejs.deb >/dev/null; }

# systemd as process 1, with a loopback interface of its own. The data folder is a small file system, which a test fills.
setsid unshare --mount --pid --fork --kill-child --uts --ipc --net --cgroup bash -ec '
  mount --make-rprivate /; mount --bind "$1" "$1"; cd "$1"
  mount -t proc proc proc; mount -t sysfs sysfs sys; mount -t tmpfs tmpfs run; mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount -t tmpfs -o mode=755 tmpfs dev; mkdir -p dev/pts dev/shm
  mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts; mount -t tmpfs tmpfs dev/shm
  for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
  ln -sf /proc/self/fd dev/fd; ln -sf pts/ptmx dev/ptmx
  mkdir -p var/lib/pulsegate; mount -t tmpfs -o size=256m,mode=700 tmpfs var/lib/pulsegate
  ip link set lo up
  mkdir -p oldroot; pivot_root . oldroot; umount -l /oldroot
  mount --make-rshared /   # Without it credentials (LoadCredential=) do not appear in services.
  exec env -i container=podman PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system
' bash "$root" </dev/null >"$work/boot.log" 2>&1 &
boot=$!
inside() { nsenter -t "$init" -m -p -u -i -n -C -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }
for _ in $(seq 300); do
  kill -0 "$boot" 2>/dev/null || break
  init=$(cat "/proc/$boot/task/$boot/children" 2>/dev/null || true)
  init=${init%% *}
  case "$([ -n "$init" ] && inside systemctl is-system-running 2>/dev/null)" in running | degraded) isBooted=1; break ;; esac
  sleep 0.2
done
[ -n "${isBooted:-}" ] || cannot "does not boot: $(tail -3 "$work/boot.log")"
echo "$(inside systemctl --version | head -1), Node $(inside node --version), Linux $(uname -r), $(nproc) processors"
inside bash -c "ulimit -n \$(ulimit -Hn); exec node /try/inside.mjs $extent /try/this.deb /try/other.deb"
