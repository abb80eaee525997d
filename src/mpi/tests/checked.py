#!/usr/bin/env python3
"""Runs `cairn check` on recordings of the programs of this folder and holds what it finds against what is known to be wrong in
them: what they do on purpose, to see how MPI or the recorder takes it. Nothing else may be found.

    checked.py --build BUILD --mpi mpich|openmpi FOLDER

FOLDER has the compiled programs. Those that matrix.py records are checked there. Exit status: 0 passed, 1 failed, 77 not
possible here.
"""
import json
import subprocess
import sys
import tempfile

import surroundings

# By program: kind and function.
WRONG = {
    'attributes': {('arguments', 'MPI_Comm_get_attr')},  # no key at all
    'choices': {('arguments', 'MPI_Recv'), ('arguments', 'MPI_Send'), ('arguments', 'MPI_Bcast'), ('truncation', 'MPI_Send')},
    'displacements': {('arguments', 'MPI_Alltoallv')},  # counts of -1
    # Messages that are too long; and requests whose receives overlap, since nobody looks at what they got.
    'drains': {('arguments', 'MPI_Waitany'), ('arguments', 'MPI_Waitsome'), ('truncation', 'MPI_Send'), ('buffers', 'MPI_Irecv')},
    'errors': {('arguments', 'MPI_Send'), ('arguments', 'MPI_Isend'), ('arguments', 'MPI_Bcast'), ('arguments', 'MPI_Recv'),
               ('arguments', 'MPI_Waitall'), ('arguments', 'MPI_File_open'), ('truncation', 'MPI_Isend'),
               ('truncation', 'MPI_Send')},
    'io': {('arguments', 'MPI_File_open')},  # of no file
    'longjmp': {('arguments', 'MPI_Send')},  # no such rank
    'matching': {('leaks', 'MPI_Comm_dup'), ('leaks', 'MPI_Comm_split')},  # freed nowhere
    'polls': {('buffering', 'MPI_Send')},  # all send before they receive
}
# What matrix.py does not record.
OTHERS = [('amounts', 3), ('io', 3), ('spawn', 3), ('connect', 3), ('grequest', 3), ('longjmp', 3), ('outside', 3), ('recursion', 3),
          ('stacks', 3), ('tool', 3), ('tracing', 3), ('unseen', 3), ('numbers', 3), ('ignored', 3), ('wrong_clocks', 3),
          ('times 10 memory 0', 3), ('extensions', 3), ('latency', 2), ('multigrid 10', 4), ('file_output 5', 3), ('choices', 3),
          ('clocks', 3)]


def problems_of(cairn, trace, program):
    """What `cairn check` finds and should not, or does not find and should."""
    done = subprocess.run([cairn, 'check', '--json', trace], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 1):
        return [f'check: {done}']
    findings = json.loads(done.stdout)['findings']
    found = {(each['kind'], each['call']['function']) for each in findings}
    problems = [f'found {each["kind"]}: {each["call"]["function"]} at {each["call"]["site"]}: {each["text"]}' for each in findings
                if (each['kind'], each['call']['function']) not in WRONG.get(program, set())]
    problems += [f'did not find {each}' for each in sorted(WRONG.get(program, set()) - found)]
    if done.returncode != (1 if findings else 0):
        problems.append(f'exit status {done.returncode}')
    return problems


def main():
    bench = surroundings.Bench(__doc__)
    failed = 0
    for line, ranks in OTHERS:
        program, *words = line.split()
        with tempfile.TemporaryDirectory(prefix='cairn-test-') as here:
            done = bench.run_in(here, 'record', '-q', '-o', 'run.cairn', '--', 'timeout', '60', bench.mpiexec, '-n', str(ranks),
                                f'{bench.program}/{program}', *words)
            problems = problems_of(bench.cairn, f'{here}/run.cairn', program) if done.returncode == 0 else [f'record: {done}']
        print(f'{line}: {len(problems)} problems')
        for problem in problems:
            print(f'  {problem}')
        failed += len(problems)
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
