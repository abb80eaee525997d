# Completion of cairn(1) for bash.
_cairn() {
  local cur prev verb i command_at=0
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  verb=${COMP_WORDS[1]}
  if [[ $verb == arrays ]] && ((COMP_CWORD > 1)); then
    _cairn_arrays
    return
  fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'record exec env info summary dump gpu diff export verify merge doctor instrument arrays --help --version' -- "$cur")
    return
  fi
  case $verb in
    record | exec | env)
      # After the options comes a command, with completions of its own.
      for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
          -o | --output | --timing | --callsites | --memory | --merge | --oracle | --spool) i=$((i + 1)) ;;
          --) command_at=$((i + 1)) && break ;;
          -*) ;;
          *) command_at=$i && break ;;
        esac
      done
      if ((command_at != 0)) && declare -F _command_offset >/dev/null; then
        _command_offset "$command_at"
        return
      fi
      ;;
  esac
  case $prev in
    -o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
    --oracle | --spool | --against | --headers | --project | --include | --cuda-path | -I) mapfile -t COMPREPLY < <(compgen -d -- "$cur") && return ;;
    --timing) mapfile -t COMPREPLY < <(compgen -W 'stats lossless' -- "$cur") && return ;;
    --callsites)
      if [[ $verb != summary ]]; then
        mapfile -t COMPREPLY < <(compgen -W 'site stack none' -- "$cur")
        return
      fi
      ;;
    --to) mapfile -t COMPREPLY < <(compgen -W 'perfetto' -- "$cur") && return ;;
    -x | --language) mapfile -t COMPREPLY < <(compgen -W 'cuda hip' -- "$cur") && return ;;
    --std) mapfile -t COMPREPLY < <(compgen -W 'c++14 c++17 c++20' -- "$cur") && return ;;
    --merge) mapfile -t COMPREPLY < <(compgen -W 'tree after' -- "$cur") && return ;;
    --sort) mapfile -t COMPREPLY < <(compgen -W 'time calls bytes' -- "$cur") && return ;;
    --memory | -D | --rank | --function | --time | --limit | --warp | --launch) return ;;
  esac
  local recording='-o --output --timing --callsites --memory --merge --oracle --spool -q --quiet -f --force -h --help'
  local options
  case $verb in
    record | exec) options=$recording ;;
    env) options="--openmpi $recording" ;;
    info) options='--json -h --help' ;;
    summary) options='--callsites --per-rank --sort --rank --function --limit --json -h --help' ;;
    dump) options='--jsonl --json --grammar --stack --warp --launch --join --raw5 --rank --function --time --limit -h --help' ;;
    gpu) options='--limit --json -h --help' ;;
    diff) options='--join --limit --json -h --help' ;;
    export) options='--to --launch --warp --limit --no-points -h --help' ;;
    verify) options='--against --json -h --help' ;;
    merge) options='-o --output -q --quiet -f --force -h --help' ;;
    doctor) options='--json -h --help' ;;
    instrument)
      options='-o --output --headers --project --emulator --no-points --include -I -D --std -x --language --cuda-path'
      options+=' -f --force -h --help'
      ;;
    *) return ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  case $verb in
    gpu)
      if ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W 'divergence coverage values sizes' -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$cur" && compgen -d -- "$cur")
      fi
      ;;
    info | summary | dump | diff | export | verify) mapfile -t COMPREPLY < <(compgen -f -X '!*.cairn' -- "$cur" && compgen -d -- "$cur") ;;
    merge | instrument) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    record | exec | env) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
  esac
}

# cairn arrays has verbs of its own.
_cairn_arrays() {
  local cur prev verb options i command_at=0
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  verb=${COMP_WORDS[2]}
  if ((COMP_CWORD == 2)); then
    if [[ $cur == -* ]]; then
      mapfile -t COMPREPLY < <(compgen -W '-h --help' -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen -W 'run info verify export import compact bench' -- "$cur")
    fi
    return
  fi
  if [[ $verb == run ]]; then
    for ((i = 3; i < COMP_CWORD; i++)); do
      case ${COMP_WORDS[i]} in
        --codec | --layout | --split | --chain | --ratio | --error | --library) i=$((i + 1)) ;;
        --) command_at=$((i + 1)) && break ;;
        -*) ;;
        *) command_at=$i && break ;;
      esac
    done
    if ((command_at != 0)) && declare -F _command_offset >/dev/null; then
      _command_offset "$command_at"
      return
    fi
  fi
  case $prev in
    --codec) mapfile -t COMPREPLY < <(compgen -W 'auto auto:speed zstd shuffle+lz4 shuffle+zstd bitshuffle+lz4 bitshuffle+zstd zfp fpzip store' -- "$cur") && return ;;
    --layout) mapfile -t COMPREPLY < <(compgen -W 'dense sparse hybrid' -- "$cur") && return ;;
    --library) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
    --split | --chain | --ratio | --error | --deflate | --var) return ;;
  esac
  case $verb in
    run) options='--codec --layout --split --chain --ratio --error --library -q --quiet -h --help' ;;
    info) options='--blocks --json -h --help' ;;
    verify) options='--json -h --help' ;;
    export) options='--netcdf4 --deflate -f --force -h --help' ;;
    import) options='--codec --split --chain -q --quiet -f --force -h --help' ;;
    compact) options='-q --quiet -f --force -h --help' ;;
    bench) options='--var --json -h --help' ;;
    *) return ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ $verb == run ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _cairn cairn
