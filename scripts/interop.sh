#!/bin/sh
# Runs test/interop against third-party servers. Missing Debian packages are installed if possible; the tests skip
# unavailable servers by name. With arguments: runs only the files whose path contains one of them.
set -eu

cd "$(dirname "$0")/.."
PATH="$PATH:/usr/sbin:/sbin"

. scripts/interop-packages.sh

packages=$(missing_packages)
if [ -n "$packages" ]; then
  if may_install; then
    # A failed installation is not an error: the tests report what they skip.
    # shellcheck disable=SC2086 # a list of names
    install_packages $packages || true
    packages=$(missing_packages)
  fi
  if [ -n "$packages" ]; then echo "not installed, and skipped:" $packages >&2; fi
fi

files=''
for file in test/interop/*.interop.ts; do
  if [ $# -eq 0 ]; then
    files="$files $file"
    continue
  fi
  for part in "$@"; do
    case "$file" in *"$part"*) files="$files $file" && break ;; esac
  done
done
if [ -z "$files" ]; then
  echo 'no interop test matches' >&2
  exit 1
fi

# One file at a time: large bodies over several servers at once only slow each other down. The limit applies to a
# whole file and is far above its usual time: without it, a silent server would block the run.
# shellcheck disable=SC2086 # a list of files
exec node --import tsx --test --test-concurrency=1 --test-timeout=240000 --test-reporter=spec $files
