# Bash completion: source <(pipewright completion bash)
# All words are read from --help, so they are never out of date.
_pipewright() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local command=${COMP_WORDS[1]} help words=
  [ "$COMP_CWORD" -gt 2 ] && [ "$command ${COMP_WORDS[2]}" = "schedule compare" ] && command="schedule compare"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$(pipewright --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
  else
    help=$(pipewright $command --help 2>/dev/null)
    if [[ $word == -* ]]; then
      words=$(grep -oE -- '--[a-z][a-z0-9-]*' <<<"$help" | sort -u)
    elif [[ $previous == --schedule || ($command == "schedule compare" && $previous != -*) ]]; then
      words=$(sed -n '/^SCHEDULES:/,/^EXAMPLES*:/s/^  \([a-z0-9-]*\)  .*/\1/p' <<<"$help")
    elif [[ $previous == --* ]]; then
      words=$(awk -v option="$previous" 'on && $1 ~ /^=/ { print substr($1, 2); next }
        { on = index($1, option "=") == 1 }' <<<"$help")
    elif [ "$COMP_CWORD" -eq 2 ] && [ "$command" = schedule ]; then
      words=compare
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _pipewright pipewright
