#!/bin/bash
# Runs the gateway from the files of a built image, as the image's user, in namespaces of its own with a root that
# cannot be written, before an emulated engine; asks it by the image's own healthcheck; and has it drain.
#   BUILDAH='buildah …' IMAGE=octet:dev image-check.sh        as root: to mount the image
set -euo pipefail
container=$($BUILDAH from --pull-never "$IMAGE")
root=$($BUILDAH mount "$container")
work=$(mktemp -d)
pids=()
finish() {
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null && wait "$p" || true; done
  $BUILDAH umount "$container" >/dev/null
  $BUILDAH rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "image-check: $*" >&2; cat "$work"/*.log >&2 2>/dev/null; exit 1; }

facts=$($BUILDAH inspect --type image --format \
  '{{.Docker.Config.User}}|{{.Docker.Config.Entrypoint}}|{{.Docker.Config.Cmd}}|{{.Docker.Config.Healthcheck.Test}}|{{.Docker.Config.Volumes}}' "$IMAGE")
want='65532:65532|[/usr/bin/octet]|[serve --config /etc/octet/octet.yaml]|[CMD /usr/bin/octet health --live]|map[/var/lib/octet:{}]'
[ "$facts" = "$want" ] || fail "the image says $facts"
others=$(cd "$root" && find . -type f ! -path './usr/share/octet/*' | sort | tr '\n' ' ')
[ "$others" = "./etc/ssl/certs/ca-certificates.crt ./usr/bin/octet " ] || fail "the image holds $others"
for f in LICENSE sbom.cdx.json licences/go@standard-library/LICENSE; do [ -s "$root/usr/share/octet/$f" ] || fail "no $f"; done
[ "$(stat -c %u:%g "$root/var/lib/octet")" = 65532:65532 ] || fail "/var/lib/octet is not its user's"

# within PROGRAM…: in the image's root, which cannot be written but for its volume, without a capability.
within() {
  exec unshare --mount --propagation private bash -c '
    set -e
    mount --bind "$1" "$1"; mkdir -p "$1/proc"; mount -t proc proc "$1/proc"
    mount --bind "$2/etc" "$1/etc/octet"; mount -t tmpfs -o uid=65532,gid=65532,mode=0700 tmpfs "$1/var/lib/octet"
    mount -o remount,bind,ro "$1"; mount -o remount,bind,ro "$1/etc/octet"
    ! touch "$1/usr/written" 2>/dev/null || { echo "its root can be written"; exit 1; }
    root=$1; shift 2
    exec setpriv --no-new-privs --clear-groups unshare --root="$root" --wd=/ --setgid 65532 --setuid 65532 "$@"
  ' - "$root" "$work" "$@"
}
mkdir -p "$work/etc"
# Two free ports: an address is printed where 0 is asked for.
(within /usr/bin/octet engine --listen 127.0.0.1:0 --name coder-0 --model coder) >"$work/engine.log" 2>&1 &
pids+=($!)
awaits() { # awaits PATTERN FILE
  for _ in $(seq 300); do
    grep -oE -m1 "$1" "$2" && return
    sleep 0.1 # the log is looked at anew
  done
  fail "$1 does not come"
}
engine=$(awaits 'http://127\.0\.0\.1:[0-9]+' "$work/engine.log")
cat >"$work/etc/octet.yaml" <<END
listen: {data: "127.0.0.1:0", admin: "127.0.0.1:0"}
specialists: [{name: coder, tokenizer: builtin, replicas: [{url: "$engine"}]}]
events: {snapshot: {file: /var/lib/octet/index, interval: 1s}}
receipts: {file: /var/lib/octet/receipts, file_bytes: 4MiB}
END
chmod -R a+rX "$work/etc" && chmod 711 "$work"
(within /usr/bin/octet serve --config /etc/octet/octet.yaml) >"$work/gateway.log" 2>&1 &
gateway=$!
pids+=("$gateway")
data=$(awaits 'data=[0-9.:]+' "$work/gateway.log")
data=${data#data=}
for _ in $(seq 100); do
  if said=$( (within /usr/bin/octet health --data "$data") 2>&1); then break; fi
  sleep 0.1 # its engine is probed
done
[ "$said" = ready ] || fail "health says $said"
[ "$( (within /usr/bin/octet health --live --data "$data") 2>&1)" = ok ] || fail "it is not alive"
[ "$(stat -c %u "/proc/$gateway")" = 65532 ] || fail "it does not run as its user"
answer=$(curl -sS "http://$data/v1/completions" -H 'Content-Type: application/json' -d '{"model":"coder","prompt":"hello","max_tokens":3}')
grep -q '"finish_reason"' <<<"$answer" || fail "it answers $answer"
kill -TERM "$gateway"
wait "$gateway" || fail "the drain ends with $?"
if grep -E 'level=ERROR|read-only' "$work/gateway.log"; then fail "something could not be written"; fi
echo "image-check: the image serves as 65532 with a root that cannot be written: 1 passed, 0 failed"
