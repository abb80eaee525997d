# Completion of cairn(1) for bash. What can be said cairn itself knows: src/terminal/completion.h has the lines it answers.
_cairn() {
  local line command=0 cur=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
      :files\ *) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X "!*${line#* }" -- "$cur" && compgen -d -- "$cur") ;;
      :folders) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$cur") ;;
      :command\ *) command=${line#* } ;;
      "$cur"*) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]/#\~/$HOME}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if ((command != 0)) && declare -F _command_offset >/dev/null; then
    _command_offset $((COMP_CWORD + 1 - command))
  elif ((command == 1)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  elif ((command != 0)); then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _cairn cairn
