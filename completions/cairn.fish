# Completion of cairn(1) for fish.
function __cairn_in_arrays
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = arrays
end
# cairn arrays has verbs of its own: whether one of these was chosen.
function __cairn_arrays
    set -l words (commandline -opc)
    test (count $words) -ge 3; and test $words[2] = arrays; and contains -- $words[3] $argv
end
complete -c cairn -n __fish_use_subcommand -f -s h -l help -d 'Print help and exit'
complete -c cairn -n __fish_use_subcommand -f -l version -d 'Print the version and exit'
complete -c cairn -n __fish_use_subcommand -f -a record -d 'Run a command and record its MPI calls'
complete -c cairn -n __fish_use_subcommand -f -a exec -d 'Become a program that is recorded, under a launcher'
complete -c cairn -n __fish_use_subcommand -f -a env -d 'Print the environment that records a program'
complete -c cairn -n __fish_use_subcommand -f -a info -d 'Tell what a trace holds'
complete -c cairn -n __fish_use_subcommand -f -a summary -d 'Sum up calls, bytes and times'
complete -c cairn -n __fish_use_subcommand -f -a dump -d 'Print every call with its arguments'
complete -c cairn -n __fish_use_subcommand -f -a gpu -d 'Tell how GPU warps diverged, which code ran, and how small that is'
complete -c cairn -n __fish_use_subcommand -f -a diff -d 'Tell what GPU kernels did in one run and not in another'
complete -c cairn -n __fish_use_subcommand -f -a export -d 'Write GPU warps as a timeline for other tools'
complete -c cairn -n __fish_use_subcommand -f -a verify -d 'Check that a trace is sound'
complete -c cairn -n __fish_use_subcommand -f -a merge -d 'Join what processes left in a spool'
complete -c cairn -n __fish_use_subcommand -f -a doctor -d 'Check that recording works here'
complete -c cairn -n __fish_use_subcommand -f -a instrument -d 'Put trace points into a CUDA or HIP program'
complete -c cairn -n __fish_use_subcommand -f -a arrays -d 'Compress what programs write through PnetCDF, and read it back'

for verb in record exec env
    set -l chosen "not __cairn_in_arrays; and __fish_seen_subcommand_from $verb"
    complete -c cairn -n "$chosen" -s o -l output -r -F -d 'Trace to write'
    complete -c cairn -n "$chosen" -l timing -x -a 'stats lossless' -d 'What is kept of times'
    complete -c cairn -n "$chosen" -l callsites -x -a 'site stack none' -d 'What tells calls apart'
    complete -c cairn -n "$chosen" -l memory -x -d 'What the recorder may use in each process'
    complete -c cairn -n "$chosen" -l merge -x -a 'tree after' -d 'How recordings are joined'
    complete -c cairn -n "$chosen" -l oracle -x -a '(__fish_complete_directories)' -d 'Also log every call uncompressed there'
    complete -c cairn -n "$chosen" -l spool -x -a '(__fish_complete_directories)' -d 'Where processes leave what they cannot merge'
    complete -c cairn -n "$chosen" -s q -l quiet -d 'Say nothing when all is well'
    complete -c cairn -n "$chosen" -s f -l force -d 'Overwrite an existing trace'
end
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from env' -l openmpi -d "Print -x options for Open MPI's mpiexec"

for verb in info summary dump gpu diff verify doctor
    complete -c cairn -n "not __cairn_in_arrays; and __fish_seen_subcommand_from $verb" -l json -d 'Print JSON'
end
for verb in summary dump
    set -l chosen "not __cairn_in_arrays; and __fish_seen_subcommand_from $verb"
    complete -c cairn -n "$chosen" -l rank -x -d 'Only these ranks'
    complete -c cairn -n "$chosen" -l function -x -d 'Only functions that match'
    complete -c cairn -n "$chosen" -l limit -x -d 'At most N lines or calls'
end
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from summary' -l callsites -d 'A line for each call site'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from summary' -l per-rank -d 'A line for each rank'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from summary' -l sort -x -a 'time calls bytes' -d 'Order of the lines'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l jsonl -d 'One JSON object a line'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l grammar -d 'Print the rules of each class'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l stack -d 'Print who called'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l time -x -d 'Only calls that overlap START+LENGTH'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l warp -x -d 'The events of this GPU warp'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l launch -x -d 'The events of this GPU launch'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l join -d 'Join what parts of a warp recorded'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from dump' -l raw5 -d 'Five bytes an event'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from gpu' -l limit -x -d 'At most N lines'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from gpu' -x -a 'divergence coverage values sizes'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from diff' -l join -d 'Join what parts of a warp recorded'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from diff' -l limit -x -d 'At most N lines'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from export' -l to -x -a perfetto -d 'The form'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from export' -l launch -x -d 'Only these launches'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from export' -l warp -x -d 'Only these warps'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from export' -l limit -x -d 'At most N events of each warp'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from export' -l no-points -d 'Without each single event'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from verify' -l against -x -a '(__fish_complete_directories)' -d 'Compare with the logs of record --oracle'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from merge' -s o -l output -r -F -d 'Trace to write'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from merge' -s q -l quiet -d 'Say nothing when all is well'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from merge' -s f -l force -d 'Overwrite an existing trace'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -s o -l output -r -F -d 'File to write'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l headers -x -a '(__fish_complete_directories)' -d 'Also instrument headers, into copies there'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l project -x -a '(__fish_complete_directories)' -d 'More project headers'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l emulator -d 'Write for the emulator'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l no-points -d 'Change launches only'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l include -x -a '(__fish_complete_directories)' -d 'Folder that has cairn/gpu.h'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -s I -x -a '(__fish_complete_directories)' -d 'A folder of headers'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -s D -x -d 'A macro'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l std -x -a 'c++14 c++17 c++20' -d 'Version of the language'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -s x -l language -x -a 'cuda hip' -d 'The language'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -l cuda-path -x -a '(__fish_complete_directories)' -d 'Where CUDA lies'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from instrument' -s f -l force -d 'Overwrite existing files'
complete -c cairn -n 'not __cairn_in_arrays; and __fish_seen_subcommand_from record exec env info summary dump gpu diff export verify merge doctor instrument' -s h -l help -d 'Print help and exit'

complete -c cairn -n '__fish_seen_subcommand_from arrays' -s h -l help -d 'Print help and exit'
complete -c cairn -n '__cairn_in_arrays; and not __cairn_arrays run info verify export import compact bench' -x -a 'run info verify export import compact bench'
complete -c cairn -n '__cairn_arrays run import' -l codec -x -a 'auto auto:speed zstd shuffle+lz4 shuffle+zstd bitshuffle+lz4 bitshuffle+zstd zfp fpzip store' -d 'How values are coded'
complete -c cairn -n '__cairn_arrays run import' -l split -x -d 'Bytes of values in a block'
complete -c cairn -n '__cairn_arrays run import' -l chain -x -d 'Code time steps against the one before'
complete -c cairn -n '__cairn_arrays run' -l layout -x -a 'dense sparse hybrid' -d 'Where blocks go'
complete -c cairn -n '__cairn_arrays run' -l ratio -x -d 'Expected ratio of hybrid'
complete -c cairn -n '__cairn_arrays run' -l error -x -d 'By how much that may be too high'
complete -c cairn -n '__cairn_arrays run' -l library -r -F -d 'The layer to use'
complete -c cairn -n '__cairn_arrays info verify bench' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_arrays info' -l blocks -d 'List the blocks'
complete -c cairn -n '__cairn_arrays export' -l netcdf4 -d 'Write netCDF-4'
complete -c cairn -n '__cairn_arrays export' -l deflate -x -d 'Compress with this level'
complete -c cairn -n '__cairn_arrays bench' -l var -x -d 'Only this variable'
complete -c cairn -n '__cairn_arrays run import compact' -s q -l quiet -d 'Say nothing when all is well'
complete -c cairn -n '__cairn_arrays export import compact' -s f -l force -d 'Overwrite an existing file'
