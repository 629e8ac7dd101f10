# Zsh completion: source <(pipewright completion zsh)
# All words are read from --help, so they are never out of date.
_pipewright() {
  local -a names command
  local previous=${words[CURRENT-1]} help
  command=(${words[2]})
  (( CURRENT > 3 )) && [[ "${words[2]} ${words[3]}" == "schedule compare" ]] && command=(schedule compare)
  if (( CURRENT == 2 )); then
    names=(${(f)"$(pipewright --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')"})
  else
    help=$(pipewright $command --help 2>/dev/null)
    if [[ ${words[CURRENT]} == -* ]]; then
      names=(${(f)"$(grep -oE -- '--[a-z][a-z0-9-]*' <<<"$help" | sort -u)"})
    elif [[ $previous == --schedule || ( ${#command} -eq 2 && $previous != -* ) ]]; then
      names=(${(f)"$(sed -n '/^SCHEDULES:/,/^EXAMPLES*:/s/^  \([a-z0-9-]*\)  .*/\1/p' <<<"$help")"})
    elif [[ $previous == --* ]]; then
      names=(${(f)"$(awk -v option="$previous" 'on && $1 ~ /^=/ { print substr($1, 2); next }
        { on = index($1, option "=") == 1 }' <<<"$help")"})
    elif (( CURRENT == 3 )) && [[ ${words[2]} == schedule ]]; then
      names=(compare)
    fi
  fi
  (( ${#names} )) && compadd -a names || _files
}
compdef _pipewright pipewright
