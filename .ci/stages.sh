# What .ci/run and .ci/nightly share. Every stage must pass. Its seconds are printed, and written to the file that the
# tests print in the end.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CI=true NO_COLOR=1 FORCE_COLOR=0 TURBO_TELEMETRY_DISABLED=1 DO_NOT_TRACK=1 DEBIAN_FRONTEND=noninteractive
# The browser of the tests is Debian's.
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
export CI_STAGES="$PWD/.results/stages.tsv"
mkdir -p .results && : >"$CI_STAGES"
exec </dev/null

stage() {
  local name=$1 started=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    echo "== $name: $((SECONDS - started)) s"
    printf '%s\t%s\n' "$((SECONDS - started))" "$name" >>"$CI_STAGES"
  else
    local code=$?
    echo "== $name: FAILED with exit code $code after $((SECONDS - started)) s" >&2
    exit "$code"
  fi
}

install_programs() {
  local as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
  # dpkg asks policy-rc.d before it starts a service: 101 forbids it. The tests start their own, on their own ports.
  local policy=/usr/sbin/policy-rc.d made=no code=0
  local programs=(redis-server haproxy nginx caddy systemd chromium)
  if [ -n "${NIGHT:-}" ]; then programs+=(prometheus); fi
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null && "${as_root[@]}" chmod +x "$policy" && made=yes
  fi
  "${as_root[@]}" apt-get update -qq >/dev/null &&
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${programs[@]}" >/dev/null || code=$?
  if [ "$made" = yes ]; then "${as_root[@]}" rm -f "$policy"; fi
  return "$code"
}

pinned_pnpm() {
  node tooling/run/pnpm-command.mjs "$@"
}

prepare() {
  stage 'programs from Debian' install_programs
  stage 'install' pinned_pnpm install --frozen-lockfile --prefer-offline --reporter=append-only
}
