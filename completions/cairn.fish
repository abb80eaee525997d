# Completion of cairn(1) for fish.
complete -c cairn -n __fish_use_subcommand -f -s h -l help -d 'Print help and exit'
complete -c cairn -n __fish_use_subcommand -f -l version -d 'Print the version and exit'
complete -c cairn -n __fish_use_subcommand -f -a record -d 'Run a command and record its MPI calls'
complete -c cairn -n __fish_use_subcommand -f -a exec -d 'Become a program that is recorded, under a launcher'
complete -c cairn -n __fish_use_subcommand -f -a env -d 'Print the environment that records a program'
complete -c cairn -n __fish_use_subcommand -f -a info -d 'Tell what a trace holds'
complete -c cairn -n __fish_use_subcommand -f -a summary -d 'Sum up calls, bytes and times'
complete -c cairn -n __fish_use_subcommand -f -a dump -d 'Print every call with its arguments'
complete -c cairn -n __fish_use_subcommand -f -a gpu -d 'Tell how GPU warps diverged, which code ran, and how small that is'
complete -c cairn -n __fish_use_subcommand -f -a verify -d 'Check that a trace is sound'
complete -c cairn -n __fish_use_subcommand -f -a merge -d 'Join what processes left in a spool'
complete -c cairn -n __fish_use_subcommand -f -a doctor -d 'Check that recording works here'

for verb in record exec env
    set -l chosen "__fish_seen_subcommand_from $verb"
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
complete -c cairn -n '__fish_seen_subcommand_from env' -l openmpi -d "Print -x options for Open MPI's mpiexec"

for verb in info summary dump gpu verify doctor
    complete -c cairn -n "__fish_seen_subcommand_from $verb" -l json -d 'Print JSON'
end
for verb in summary dump
    set -l chosen "__fish_seen_subcommand_from $verb"
    complete -c cairn -n "$chosen" -l rank -x -d 'Only these ranks'
    complete -c cairn -n "$chosen" -l function -x -d 'Only functions that match'
    complete -c cairn -n "$chosen" -l limit -x -d 'At most N lines or calls'
end
complete -c cairn -n '__fish_seen_subcommand_from summary' -l callsites -d 'A line for each call site'
complete -c cairn -n '__fish_seen_subcommand_from summary' -l per-rank -d 'A line for each rank'
complete -c cairn -n '__fish_seen_subcommand_from summary' -l sort -x -a 'time calls bytes' -d 'Order of the lines'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l jsonl -d 'One JSON object a line'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l grammar -d 'Print the rules of each class'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l stack -d 'Print who called'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l time -x -d 'Only calls that overlap START+LENGTH'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l warp -x -d 'The events of this GPU warp'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l launch -x -d 'The events of this GPU launch'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l join -d 'Join what parts of a warp recorded'
complete -c cairn -n '__fish_seen_subcommand_from dump' -l raw5 -d 'Five bytes an event'
complete -c cairn -n '__fish_seen_subcommand_from gpu' -l limit -x -d 'At most N lines'
complete -c cairn -n '__fish_seen_subcommand_from gpu' -x -a 'divergence coverage sizes'
complete -c cairn -n '__fish_seen_subcommand_from verify' -l against -x -a '(__fish_complete_directories)' -d 'Compare with the logs of record --oracle'
complete -c cairn -n '__fish_seen_subcommand_from merge' -s o -l output -r -F -d 'Trace to write'
complete -c cairn -n '__fish_seen_subcommand_from merge' -s q -l quiet -d 'Say nothing when all is well'
complete -c cairn -n '__fish_seen_subcommand_from merge' -s f -l force -d 'Overwrite an existing trace'
complete -c cairn -n '__fish_seen_subcommand_from record exec env info summary dump gpu verify merge doctor' -s h -l help -d 'Print help and exit'
