# For tests of a program as a user meets it, which source this with the binary
# in `program`: its exit status, what it prints and the files it writes. They
# exit with failures > 0.
work=$(mktemp -d "$TEST_TMPDIR/${program##*/}.XXXXXX")
failures=0

# run STATUS FLAG...: runs it; its exit status must be STATUS.
run() {
  local expected=$1 status=0
  shift
  "$program" "$@" >"$work/out" 2>"$work/err" || status=$?
  if [[ $status -ne $expected ]]; then
    echo "${program##*/} $*: status $status, not $expected"
    cat "$work/out" "$work/err"
    failures=$((failures + 1))
  fi
}

# has FILE TEXT: some line of the file holds the text.
has() {
  if ! grep -qaF -- "$2" "$work/$1"; then
    echo "$1 lacks '$2':"
    head -c 10000 "$work/$1"
    failures=$((failures + 1))
  fi
}
