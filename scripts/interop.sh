#!/bin/sh
# Runs test/interop against servers that others wrote. Debian packages that are missing are installed when
# that is possible; what cannot be had is skipped, by name, by the tests. With arguments: runs only the files
# whose path contains one of them.
set -eu

cd "$(dirname "$0")/.."
PATH="$PATH:/usr/sbin:/sbin"

# Package and the program that it brings.
missing() {
  command -v nginx >/dev/null 2>&1 || echo nginx-light
  command -v nghttpd >/dev/null 2>&1 || echo nghttp2-server
  command -v nghttp >/dev/null 2>&1 || echo nghttp2-client
}

# Without a word to the init system: a package must not start its service by being installed.
install_packages() {
  policy=/usr/sbin/policy-rc.d
  made_policy=no
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    made_policy=yes
  fi
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  # shellcheck disable=SC2086 # a list of names
  apt-get install -y --no-install-recommends $1 ||
    { apt-get update && apt-get install -y --no-install-recommends $1; } ||
    echo "could not install: $1" >&2
  if [ "$made_policy" = yes ]; then rm -f "$policy"; fi
}

packages=$(missing | tr '\n' ' ')
if [ -n "$packages" ]; then
  if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    install_packages "$packages" >/dev/null
  else
    echo "not installed, and not allowed to install: $packages" >&2
  fi
fi

files=''
for file in test/interop/*.interop.ts; do
  if [ $# -eq 0 ]; then
    files="$files $file"
    continue
  fi
  for part in "$@"; do
    case "$file" in *"$part"*) files="$files $file" ;; esac
  done
done
if [ -z "$files" ]; then
  echo 'no interop test matches' >&2
  exit 1
fi

# One file at a time: they measure nothing, but large bodies over several servers at once only get in each
# other's way.
# shellcheck disable=SC2086 # a list of files
exec node --import tsx --test --test-concurrency=1 --test-reporter=spec $files
