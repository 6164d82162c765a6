#!/usr/bin/env bash
# A nightly run leaves a record, whether parts fail, or it is ended while they run; and goes on where it was. A check runs all of
# its parts, fails if one did, and ends them when it is ended. Their commands are played.
set -euo pipefail
cd "$(dirname "$0")/.."

. hack/verified.sh
unchanged hack/nightly.sh hack/check.sh hack/run-parts.sh hack/what-failed.sh hack/timed.sh hack/lanes.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/hack" "$work/tree/docs" "$work/played"
cp hack/nightly.sh hack/check.sh hack/run-parts.sh hack/what-failed.sh hack/timed.sh hack/lanes.sh "$work/tree/hack"
for command in chromium docker go hack/build-cluster.sh; do
  printf '#!/bin/sh\n' >"$work/played/$(basename "$command")"
done
printf '#!/bin/sh\necho sh\n' >"$work/played/go" # the C compiler
cp "$work/played/build-cluster.sh" "$work/tree/hack"
# PLAYED says which target fails, or does not end.
cat >"$work/played/make" <<'MAKE'
#!/usr/bin/env bash
echo "$*" >>"$RAN"
case "$PLAYED $1" in
"fails $FAULTY") printf -- '--- FAIL: TestIt (0.1s)\n    a | b\n'; exit 1 ;;
"hangs $FAULTY") echo >"$HANGS"; trap 'echo tidied >>"$RAN"; exit 1' TERM; sleep 600 & wait ;;
esac
MAKE
chmod +x "$work"/played/* "$work/tree/hack/"*
git -C "$work/tree" init --quiet
touch "$work/tree/docs/nightly.md"
printf 'bin\n' >"$work/tree/.gitignore"
git -C "$work/tree" add .
git -C "$work/tree" -c user.name=n -c user.email=n@n commit --quiet --message=tree

status=0
page=$work/tree/docs/nightly.md
export RAN=$work/ran HANGS=$work/hangs TICK_SECONDS=0.3 PLAYED FAULTY
# night [RESUME]: takes the place of its shell, so that a signal reaches the script itself.
night() {
  : >"$RAN"
  export PATH=$work/played:$PATH NIGHTLY_RESUME=${1:-}
  exec "$work/tree/hack/nightly.sh" >"$work/said" 2>&1
}
# has WHAT FILE EXPRESSION
has() { grep -sqE "$3" "$2" || { printf 'hack/nightly.sh, %s: no line matches "%s" in\n' "$1" "$3" >&2; cat "$2" >&2; status=1; }; }

PLAYED=fails FAULTY=mutants
! (night) || { echo "hack/nightly.sh, a part that fails: it succeeds" >&2; status=1; }
has 'a part that fails' "$page" '^\| `make mutants` \| [0-9]+ \| [0-9]+ \| FAILED: TestIt \|$'
has 'a part that fails' "$page" '^- result: FAILED; [0-9]+ of [0-9]+ parts passed$'
has 'a part that fails' "$work/said" '^TestIt$'
has 'the knobs' "$page" '^- `NIGHTLY_REPEAT=1` .* `NIGHTLY_SCALE=100`$'
has 'a part behind one that fails' "$page" '^\| `make bench BENCH_JOBS.* ok \|$'

PLAYED='' FAULTY=''
(night 1) || { echo "hack/nightly.sh, again: it fails" >&2; cat "$work/said" >&2; status=1; }
[ "$(cat "$RAN")" = mutants ] || { echo "hack/nightly.sh, again: want mutants alone, it ran: $(cat "$RAN")" >&2; status=1; }
has 'again' "$page" '^- result: all parts passed; ([0-9]+) of \1 parts passed$'

PLAYED=hangs FAULTY=soak
night &
until [ -e "$HANGS" ]; do sleep 0.1; done
kill -TERM $!
! wait $! || { echo "hack/nightly.sh, SIGTERM: it succeeds" >&2; status=1; }
has SIGTERM "$page" '^- result: ENDED EARLY by a signal; '
has SIGTERM "$page" '^\| `make soak.*not ended \|$'
has SIGTERM "$page" '^\| `make bench BENCH_JOBS.*not run \|$'
has SIGTERM "$RAN" '^tidied$'

# check: takes the place of its shell, too.
check() {
  : >"$RAN"
  rm -f "$HANGS"
  export PATH=$work/played:$PATH
  exec "$work/tree/hack/check.sh" >"$work/said" 2>&1
}
PLAYED=fails FAULTY=test-sequence
! (check) || { echo "hack/check.sh, a part that fails: it succeeds" >&2; status=1; }
has 'a part that fails' "$work/said" '^FAILED .* nice make test-sequence$'
has 'its log' "$work/said" '^    a \| b$'
has 'a part behind one that fails' "$work/said" '^ok .* make test-faults$'
has 'the other lane' "$work/said" '^ok .* make demo$'

PLAYED='' FAULTY=''
(check) || { echo "hack/check.sh: it fails" >&2; cat "$work/said" >&2; status=1; }

PLAYED=hangs FAULTY=test-faults
check &
until [ -e "$HANGS" ]; do sleep 0.1; done
kill -TERM $!
! wait $! || { echo "hack/check.sh, SIGTERM: it succeeds" >&2; status=1; }
has 'SIGTERM to a check' "$RAN" '^tidied$'
[ "$status" = 0 ] || exit 1
passed
