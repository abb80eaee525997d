# Sourced by scripts that write a line of progress over and over again on a terminal: it must not wrap, since only what
# stands on the last of its lines would be overwritten.
steps_terminal=
[ ! -t 1 ] || exec {steps_terminal}<&1

# fitted LINE: its beginning, as much as the terminal has room for now.
fitted() {
  local width
  width=$(stty size <&"$steps_terminal" 2>/dev/null)
  width=${width#* }
  [ "${width:-0}" -gt 1 ] || width=80
  printf '%s' "${1:0:width-1}"
}
