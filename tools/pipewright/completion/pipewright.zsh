# Zsh completion: source <(pipewright completion zsh)
# Options are read from each subcommand's --help, so they are never out of date.
_pipewright() {
  local -a names
  if (( CURRENT == 2 )); then
    names=(${(f)"$(pipewright --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')"})
  elif [[ ${words[CURRENT]} == -* ]]; then
    names=(${(f)"$(pipewright ${words[2]} --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)"})
  fi
  (( ${#names} )) && compadd -a names || _files
}
compdef _pipewright pipewright
