#!/bin/sh
# Builds the site and tests it in a real browser. Chromium is installed from Debian's packages if it is missing.
set -eu

cd "$(dirname "$0")/.."

. scripts/interop-packages.sh

if ! command -v "${CHROMIUM:-chromium}" >/dev/null 2>&1 && may_install; then install_packages chromium; fi
if ! command -v "${CHROMIUM:-chromium}" >/dev/null 2>&1; then
  echo 'chromium is not installed; CHROMIUM names another one' >&2
  exit 1
fi

npm run --silent docs
# The limit applies to the whole file: without it, a silent browser would block the run.
exec node --test --test-timeout=600000 --test-reporter=spec test/site/*.test.mjs
