#!/bin/sh
# Unpacks Debian's nginx and haproxy, with the libraries that only they need, under the directory given: nothing is installed
# and no service started. What cannot be had is left out and named; the benchmark runs without it.
set -u
root=$1
mkdir -p "$root/deb"
for package in nginx haproxy; do
  if [ -x "$root/root/usr/sbin/$package" ] || command -v "$package" >/dev/null 2>&1; then continue; fi
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "$package: no apt-get here, and it is not installed; the benchmark runs without it" >&2
    continue
  fi
  needed=$(apt-get install -s --no-install-recommends "$package" 2>/dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
  if [ -z "$needed" ] || ! (cd "$root/deb" && apt-get download -q $needed >/dev/null 2>&1); then
    echo "$package: apt-get cannot find it (is apt-get update needed?); the benchmark runs without it" >&2
    continue
  fi
  for deb in "$root"/deb/*.deb; do dpkg -x "$deb" "$root/root"; done
done
