#!/bin/sh
# A fake agent that starts in a millisecond, for tests with many calls: notes its start in a ledger, and does what the
# table says for its label. shell-agent.ts drives it. Argument: the control folder.
control=$1
label=$WF_CALL_LABEL
prompt=$(cat)
note() {
  printf '%s|%s|%s|%s|%s|%s\n' "$1" "$$" "$WF_RUN_ID" "$WF_CALL_KEY" "$WF_ATTEMPT" "$label" >>"$control/ledger"
}
note start
reply="$label by $$"
delay=0
code=0
gate=
says=
once=
. "$control/table.sh"
if [ -n "$gate" ]; then
  while [ ! -e "$control/gates/$gate" ] && [ ! -e "$control/gates/.all" ]; do sleep 0.02; done
fi
# A failure of the first attempt alone.
[ -z "$once" ] || [ "$WF_ATTEMPT" = 1 ] || { code=0; says=; }
[ -z "$says" ] || printf '%s\n' "$says" >&2
[ "$delay" = 0 ] || sleep "$delay"
if [ "$code" != 0 ]; then
  note failed
  echo "fake failure of $label" >&2
  exit "$code"
fi
printf '%s' "$reply"
note ok
