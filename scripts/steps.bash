# Sourced by scripts/check and scripts/demo: runs steps one after another, each with a log, a clock and a line of
# progress, and keeps count. A step is a shell function; its output goes to its log, its exit status says how it went.
# A step that counts by itself (tests) sets step_passed, step_failed and step_skipped through `counted`; every other
# step counts as one.
. scripts/terminal.bash

passed=0
failed=0
skipped=0
step=0
failures=()
failed_steps=' '

# counted PASSED FAILED SKIPPED: called within a step (which runs in a subshell), so it speaks through a file.
counted() { printf '%s %s %s\n' "$@" >"$step_counts"; }

# blame WHAT: names one thing that failed, with the log of the step or another file to look at.
blame() { printf '%s\n' "$*" >>"$step_blames"; }

# quote: what is read, a few lines of what failed, is shown below the step.
quote() { cat >>"$step_quotes"; }

# last_words FILE: its last line that says anything, at most 90 characters of it.
last_words() { tr '\r' '\n' <"$1" | sed -E 's/\x1b\[[0-9;]*[A-Za-z]//g' | grep -v '^[[:space:]]*$' | tail -n 1 | cut -c1-90; }

# run_step NAME TITLE COMMAND...: NAME names the log. Needs steps_total and log_dir. Returns the command's status.
run_step() {
  local name=$1 title=$2 rc=0 pid started=$SECONDS head next_beat=60 step_counts step_blames step_quotes log line
  shift 2
  step=$((step + 1))
  head=$(printf '[%d/%d] %s' "$step" "$steps_total" "$title")
  log=$log_dir/$name.log
  step_counts=$log_dir/.counts
  step_blames=$log_dir/.blames
  step_quotes=$log_dir/.quotes
  rm -f "$step_counts" "$step_blames" "$step_quotes"
  : >"$log"
  [ -t 1 ] || printf '%s\n' "$head"
  # A process group of its own, so that an interrupt ends all of the step: bash lets background jobs ignore it.
  set -m
  ("$@") </dev/null >>"$log" 2>&1 &
  pid=$!
  set +m
  trap 'kill -TERM -- -$pid 2>/dev/null; printf "\n%s: interrupted in step %d (%s)\n" "${0##*/}" $step "$log" >&2; exit 130' \
    INT TERM HUP
  while kill -0 "$pid" 2>/dev/null; do
    if [ -t 1 ]; then
      printf '\r\033[K%s' "$(fitted "$head  $((SECONDS - started)) s  $(last_words "$log")")"
      sleep 1
    else
      if [ $((SECONDS - started)) -ge $next_beat ]; then
        printf '        ... %d s: %s\n' $((SECONDS - started)) "$(last_words "$log")"
        next_beat=$((next_beat + 60))
      fi
      sleep 0.2
    fi
  done
  wait "$pid" || rc=$?
  trap - INT TERM HUP
  [ ! -t 1 ] || printf '\r\033[K'

  local p=0 f=0 s=0
  if [ -s "$step_counts" ]; then
    read -r p f s <"$step_counts"
    # A runner that fails without a failed test (it could not start) is a failure of its own.
    if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then
      f=1
    fi
  elif [ $rc -eq 0 ]; then
    p=1
  else
    f=1
  fi
  passed=$((passed + p))
  failed=$((failed + f))
  skipped=$((skipped + s))
  line=$(printf '%d s' $((SECONDS - started)))
  [ ! -s "$step_counts" ] || line="$line, $p passed, $f failed"
  [ "$s" -eq 0 ] || line="$line, $s skipped"
  if [ "$f" -eq 0 ]; then
    if [ -t 1 ]; then printf '%s  ok (%s)\n' "$head" "$line"; else printf '        ok (%s)\n' "$line"; fi
    return 0
  fi
  if [ -t 1 ]; then printf '%s  FAILED (%s)\n' "$head" "$line"; else printf '        FAILED (%s)\n' "$line"; fi
  if [ -s "$step_blames" ]; then
    while IFS= read -r line; do
      failures+=("$title: $line")
    done <"$step_blames"
    [ ! -s "$step_quotes" ] || sed 's/^/        | /' "$step_quotes" | cut -c1-400 | tail -n 200
  else
    failures+=("$title: see $PWD/$log")
    sed 's/^/        | /' "$log" | grep -v '^ *| *$' | tail -n "${CAIRN_TAIL:-25}"
  fi
  failed_steps="$failed_steps$name "
  return 1
}

# step_ok NAME: whether that step did not fail.
step_ok() {
  case $failed_steps in
    *" $1 "*) return 1 ;;
  esac
}

# skip_step TITLE REASON: keeps the numbering honest when a step cannot run; it counts as failed.
skip_step() {
  step=$((step + 1))
  printf '[%d/%d] %s\n        NOT RUN: %s\n' "$step" "$steps_total" "$1" "$2"
  failed=$((failed + 1))
  failures+=("$1: not run, $2")
}
