# Completion of cairn(1) for fish. What can be said cairn itself knows: src/terminal/completion.h has the lines it answers.
function __cairn_complete
    set -l words (commandline -opc)
    set -l cur "$(commandline -ct)"
    set -l cairn $words[1]
    set -e words[1]
    for line in ($cairn --complete $words $cur 2>/dev/null)
        switch $line
            case ':files' ':files *'
                __fish_complete_suffix (string replace -r '^:files ?' '' -- $line)
            case ':folders'
                __fish_complete_directories $cur
            case ':command *'
                set -l all $words $cur
                set -l from (math 1 - (string replace ':command ' '' -- $line) + (count $all))
                complete -C (string join ' ' -- $all[$from..-1])
            case '*'
                echo $line
        end
    end
end
complete -c cairn -f -a '(__cairn_complete)'
