#!/bin/bash
# Installs, upgrades, removes and purges the Debian package without a network, as its users will. For root:
#   try-deb.sh                       on this machine, where pulsegate is not installed: CI, or a container
#   try-deb.sh --debian RELEASE      in a new system of this release of Debian (trixie …), made by debootstrap
#   try-deb.sh --packages FOLDER     on this machine, the packages FOLDER/before/*.deb and FOLDER/new/*.deb, which it does not build
set -euo pipefail
usage() { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
release=
packages=
case "$#:${1:-}" in
  0:) ;;
  2:--debian) release=$2 ;;
  2:--packages) packages=$2 ;;
  *) usage ;;
esac
[ "$(id -u)" = 0 ] || { echo "for root only" >&2; exit 1; }
[ -n "$release" ] || ! dpkg -s pulsegate >/dev/null 2>&1 || { echo "pulsegate is installed here already" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive
script=$(realpath "$0")
work=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  [ -n "$release" ] || dpkg --purge pulsegate >/dev/null 2>&1 || true
  # It would outlive the package, and another run here would fail.
  [ -n "$release" ] || dpkg-statoverride --remove /etc/pulsegate/pulsegate.yaml 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
if [ -z "$packages" ]; then
  cd "$(dirname "$script")/../.."
  packages=$work
  npm pack --silent --pack-destination "$work" >/dev/null
  node test/tools/package-deb.mjs --out "$work/before" --revision '~before' --tarball "$work"/pulsegate-*.tgz >/dev/null
  node test/tools/package-deb.mjs --out "$work/new" --tarball "$work"/pulsegate-*.tgz >/dev/null
  # The same commit makes the same bytes.
  node test/tools/package-deb.mjs --out "$work/again" >/dev/null
  cmp "$work"/new/*.deb "$work"/again/*.deb
  # Every exception is in etc/debian/pulsegate.lintian-overrides, with its reason.
  lintian --fail-on error,warning "$work"/new/*.deb
fi
if [ -n "$release" ]; then
  # The dependencies of the package, and the programs that the checks below run.
  debootstrap --variant=minbase --include=nodejs,adduser,systemd,man-db,curl "$release" "$work/root" >"$work/debootstrap.log" 2>&1 ||
    { tail "$work/debootstrap.log" >&2; exit 1; }
  cp -r "$work/before" "$work/new" "$script" "$work/root/mnt/"
  # Its /proc is unmounted with the namespace, before the folder is removed.
  unshare --mount sh -ec 'mount -t proc proc "$0/proc"; exec chroot "$0" /mnt/try-deb.sh --packages /mnt' "$work/root"
  exit
fi
cd /
passed=0
check() { # check TEXT COMMAND…
  local text=$1
  shift
  "$@" || { echo "failed: $text" >&2; exit 1; }
  passed=$((passed + 1))
}
same() { [ "$1" = "$2" ] || { echo "found '$1', expected '$2'" >&2; return 1; }; }
absent() { [ ! -e "$1" ]; }

# The unit's command, as the unit's user, with the credential that systemd passes to it.
serve() {
  mkdir -p "$work/credentials"
  cp /etc/pulsegate/admin-password "$work/credentials/admin-password"
  chown -R pulsegate "$work/credentials"
  chmod 755 "$work"
  : > "$work/log"
  local command
  command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/pulsegate.service)
  # shellcheck disable=SC2086 # the command is several words
  (cd /var/lib/pulsegate && exec setpriv --reuid pulsegate --regid pulsegate --clear-groups --no-new-privs env -i PATH="$PATH" \
    CREDENTIALS_DIRECTORY="$work/credentials" PULSEGATE_SOCKS__PORT=0 PULSEGATE_ADMIN__PORT=0 \
    $command > "$work/log" 2>&1) &
  daemon=$!
  for _ in $(seq 300); do
    ! grep -q '"msg":"ready"' "$work/log" || break
    kill -0 "$daemon" || break
    sleep 0.1
  done
  admin=$(sed -n 's/.*"msg":"ready".*"admin":\["\([^"]*\)".*/\1/p' "$work/log")
  [ -n "$admin" ] || { cat "$work/log" >&2; exit 1; }
}
stop() {
  kill "$daemon"
  wait "$daemon"
  daemon=
}
# The daemon reads changes of the command line within a second.
lists_anna() {
  for _ in $(seq 100); do
    ! accounts | grep -q '"Username":"anna"' || return 0
    sleep 0.1
  done
  return 1
}
accounts() {
  curl -sf -u "admin:$(cat /etc/pulsegate/admin-password)" "http://$admin/ProxyAccount/GetProxyAccountList"
}

echo 'pulsegate pulsegate/admin-password password asked-for-once' | debconf-set-selections
check 'installs without a network' unshare --net dpkg -i "$packages"/before/*.deb
check 'stores the password from debconf' same "$(cat /etc/pulsegate/admin-password)" asked-for-once
check 'keeps the password for root' same "$(stat -c '%U %a' /etc/pulsegate/admin-password)" 'root 600'
check 'lets only root and the service read the configuration' same "$(stat -c '%U %G %a' /etc/pulsegate/pulsegate.yaml)" 'root pulsegate 640'
check 'removes the password from debconf' bash -c '! grep -rq asked-for-once /var/cache/debconf'
check 'creates the data folder' same "$(stat -c '%U %a' /var/lib/pulsegate)" 'pulsegate 700'
check 'installs a valid systemd unit' systemd-analyze verify /lib/systemd/system/pulsegate.service
check 'installs the example units of agents' bash -c 'systemd-analyze verify /usr/share/doc/pulsegate/examples/pulsegate-agent-example*'
check 'installs the manual page' bash -c 'gzip -t /usr/share/man/man1/pulsegate.1.gz'
check 'installs completions' bash -n /usr/share/bash-completion/completions/pulsegate
check 'finds its configuration' pulsegate config check
check 'compiles the program' compgen -G '/usr/lib/pulsegate/dist/kept-code/daemon-*.js' >/dev/null
serve
check 'adds an account as root beside the service' bash -c 'printf "secret-1\n" | pulsegate account add anna --password-stdin'
check 'accepts the password, and lists the account' lists_anna
check 'loads its native addons' bash -c "! grep -q 'not available' '$work/log'"
stop
check 'keeps the owner of the service files' same "$(find /var/lib/pulsegate ! -user pulsegate | wc -l)" 0

echo '# changed by the operator' >> /etc/pulsegate/pulsegate.yaml
# The scripts themselves, because systemd does not run everywhere that this does.
check 'leaves socket activation on at an upgrade' bash -c '! grep -qs socket /var/lib/dpkg/info/pulsegate.preinst'
check 'ends socket activation at its removal' grep -q 'stop pulsegate.socket' /var/lib/dpkg/info/pulsegate.prerm
chmod 600 /etc/pulsegate/pulsegate.yaml && dpkg-statoverride --add --update root pulsegate 660 /etc/pulsegate/pulsegate.yaml
check 'upgrades' unshare --net dpkg -i "$packages"/new/*.deb
check 'keeps the configuration' grep -q 'changed by the operator' /etc/pulsegate/pulsegate.yaml
check 'keeps its mode' same "$(stat -c '%a' /etc/pulsegate/pulsegate.yaml)" 660
check 'keeps the password' same "$(cat /etc/pulsegate/admin-password)" asked-for-once
serve
check 'keeps the accounts' lists_anna
stop

check 'is removed' dpkg --remove pulsegate
check 'removes the program' absent /usr/lib/pulsegate
check 'keeps the data' test -e /var/lib/pulsegate/pulsegate.db
check 'keeps the configuration' test -e /etc/pulsegate/pulsegate.yaml
check 'is purged' dpkg --purge pulsegate
check 'removes the data' absent /var/lib/pulsegate
check 'removes the configuration' absent /etc/pulsegate

check 'generates a password when debconf has none' dpkg -i "$packages"/new/*.deb
check 'generates a password of 24 characters' same "$(tr -d '\n' < /etc/pulsegate/admin-password | wc -c)" 24
check 'is purged again' dpkg --purge pulsegate

echo "package: $passed passed, 0 failed"
