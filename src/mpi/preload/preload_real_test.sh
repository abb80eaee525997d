#!/bin/sh
# preload_real_test.sh MPICC LIBCAIRN SOURCE SONAME: without a recorder, a program under this MPI does what it does without
# libcairn.so, down to its exit status, and each process says why it isn't recorded.
set -eu
mpicc=$1
library=$2
source=$3
soname=$4
mpiexec=$(printf '%s' "$mpicc" | sed 's/mpicc\([^/]*\)$/mpiexec\1/')
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_MCA_orte_tmpdir_base="$folder"
"$mpicc" -o "$folder/program" "$source"
run() {
  status=0
  timeout 60 "$mpiexec" -n 2 "$@" >"$folder/output" 2>/dev/null || status=$?
  sort "$folder/output"
  echo "status $status"
}
run "$folder/program" >"$folder/plain"
mkdir "$folder/spool"
run env LD_PRELOAD="$library" CAIRN_OUTPUT=x CAIRN_SPOOL="$folder/spool" CAIRN_RECORDERS=/nonexistent \
  "$folder/program" >"$folder/preloaded"
cat "$folder/preloaded"
grep -q '^0 of 2: .* got 1.5, sum 2, error 1$' "$folder/preloaded"
diff "$folder/plain" "$folder/preloaded"
test "$(cat "$folder"/spool/unrecorded.* | sort | uniq -c | sed 's/^ *//')" = "2 cairn: no recorder for $soname"
