#!/usr/bin/env bash
# Installs the build into an empty folder, moves that folder, and records with what is there, as a user who has neither
# the build folder's environment nor root would.
#   install_test.sh CMAKE BUILD_DIR CC MPIEXEC PROGRAM_SOURCE
set -u -o pipefail
cmake=$1 build=$2 cc=$3 mpiexec=$4 source=$5

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  printf 'install_test: %s\n' "$*" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$work/first-place" >"$work/install.log" || fail "install: $(tail -n 3 "$work/install.log")"
mv "$work/first-place" "$work/second-place" || fail 'cannot move it'
home="$work/second-place"

# What has to be there.
[ -x "$home/bin/cairn" ] || fail 'no bin/cairn'
library=$(find "$home" -name libcairn.so -print -quit)
[ -n "$library" ] || fail 'no libcairn.so'
recorders=$(find "$(dirname "$library")/recorders" -name libcairn-recorder.so | wc -l)
oracles=$(find "$(dirname "$library")/recorders" -name libcairn-oracle.so | wc -l)
[ "$recorders" -gt 0 ] && [ "$recorders" -eq "$oracles" ] || fail "$recorders recorders and $oracles oracles"
for page in man/man1/cairn.1 bash-completion/completions/cairn zsh/site-functions/_cairn fish/vendor_completions.d/cairn.fish \
  cairn/schemas/common.schema.json cairn/schemas/cairn-info.schema.json; do
  find "$home/share" -path "*/$page*" -print -quit | grep -q . || fail "no share/$page"
done

# What must not be: a way back to the build folder, or a C++ run-time library in the program's view.
while IFS= read -r object; do
  readelf -d "$object" | grep -E 'R(UN)?PATH' && fail "$object has a run path"
done < <(find "$home" -type f \( -name '*.so' -o -name cairn -path '*/bin/*' \))
while IFS= read -r object; do
  others='libmpi|libmpich|'
  [ "$(basename "$object")" != libcairn-arrays.so ] || others=''  # it belongs to PnetCDF, and so to one MPI
  readelf -d "$object" | grep -E "NEEDED.*(stdc\\+\\+|${others}zstd)" && fail "$object brings a library with it"
done < <(find "$home" -name 'libcairn*.so')

# And it works, with a clean environment.
"$cc" -O1 -g -Wno-stringop-overflow "$source" -o "$work/program" || fail 'the program does not compile'
cd "$work" || exit 1
clean=(env -i "PATH=/usr/bin:/bin" "HOME=$work" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 "OMPI_MCA_orte_tmpdir_base=$work" timeout 60)
"${clean[@]}" "$home/bin/cairn" arrays --help >arrays.log 2>&1 || fail "arrays: $(cat arrays.log)"
"${clean[@]}" "$home/bin/cairn" doctor >doctor.log 2>&1 || fail "doctor: $(cat doctor.log)"
"${clean[@]}" "$home/bin/cairn" record -o run.cairn -- "$mpiexec" -n 2 ./program 3 >record.log 2>&1 ||
  fail "record: $(cat record.log)"
"${clean[@]}" "$home/bin/cairn" dump run.cairn >dump.log 2>&1 || fail "dump: $(cat dump.log)"
# Two ranks, three steps, four sends each.
sends=$(grep -c 'MPI_Isend' dump.log)
[ "$sends" -eq 24 ] || fail "the trace has $sends calls of MPI_Isend instead of 24"
printf 'installed, moved, recorded: %s\n' "$(tail -n 1 record.log)"
