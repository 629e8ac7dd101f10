# Bash completion: source <(pipewright completion bash)
# Options are read from each subcommand's --help, so they are never out of date.
_pipewright() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=$(pipewright --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
  elif [[ $word == -* ]]; then
    words=$(pipewright "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _pipewright pipewright
