#!/bin/sh
# Builds a release twice, from two clones in folders of different names, and fails unless every byte is the same.
#   twice.sh make-arguments…      FRESH=1: the second with an empty build cache of its own
set -eu
here=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
for folder in one another/and/deeper; do
  git clone -q "$here" "$work/$folder"
  [ "$folder" = one ] || [ -z "${FRESH:-}" ] || export GOCACHE="$work/cache"
  make -s -C "$work/$folder" release "$@"
done
diff -r "$work/one/.cache/release" "$work/another/and/deeper/.cache/release"
cd "$work/one/.cache/release"
sha256sum -c --quiet SHA256SUMS
for archive in *-"$(go env GOHOSTOS)-$(go env GOHOSTARCH)".tar.gz; do
  tar -xzf "$archive" -C "$work"
  cd "$work/${archive%.tar.gz}"
  ./octet --version | tee /dev/stderr | grep -q "$(git -C "$here" rev-parse --short=12 HEAD).*$(go env GOVERSION)"
  ./octet check reference.yaml >/dev/null
  ls LICENSE README.md octet.service sbom.cdx.json licences/go@standard-library/LICENSE >/dev/null
done
echo "two builds, the same bytes:" && cat "$work/one/.cache/release/SHA256SUMS"
