#!/usr/bin/env python3
"""What the layer over PnetCDF does when something goes wrong. Says what failed; exit status 1 then.

    faults.py --cairn PROGRAM --layer LIBRARY --md PROGRAM --append PROGRAM --user-codec PROGRAM [--mpiexec PROGRAM]
"""
import argparse
import fcntl
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import surroundings

FAILURES = []


def check(good, what, said=''):
    if not good:
        FAILURES.append(f'{what}\n{said}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ('cairn', 'layer', 'md', 'append', 'user-codec'):
        parser.add_argument(f'--{name}', required=True)
    parser.add_argument('--mpiexec', default='mpiexec.openmpi')
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-test-array-faults-'))
    env = surroundings.environment(folder)

    def command(ranks, *words):
        return [options.mpiexec, '-n', str(ranks), '-x', f'LD_PRELOAD={options.layer}', *map(str, words)]

    def run(*words):
        done = subprocess.run([str(word) for word in words], cwd=folder, env=env, capture_output=True, timeout=120,
                              stdin=subprocess.DEVNULL, check=False)
        return done.returncode, (done.stdout + done.stderr).decode(errors='replace')

    def verified(name, what):
        status, said = run(options.cairn, 'arrays', 'verify', name)
        check(status == 1 and 'not closed' in said, f'{what}: verify does not say that it was not closed', said)
        status, said = run(options.cairn, 'arrays', 'recover', name)
        check(status == 0, f'{what}: recover', said)
        status, said = run(options.cairn, 'arrays', 'verify', name)
        check(status == 0, f'{what}: verify', said)

    def records(name):
        status, said = run(options.cairn, 'arrays', 'info', '--json', name)
        return (json.loads(said) if status == 0 else {}), said

    # A codec of the program's own: written, read by another job with it, refused without it.
    for words, ranks in (('write', 3), ('read', 2), ('stranger', 2)):
        status, said = run(*command(ranks, options.user_codec, 'user.nc', words))
        check(status == 0, f'user codec: {words}', said)
        if words == 'stranger':
            check('ncmpi_comp_reg' in said and "variable 'ints'" in said, 'user codec: the line that says why', said)

    # Killed in the middle of writing: what was synchronised is there and sound.
    name = f'killed-{os.getpid()}.nc'
    job = subprocess.Popen(command(2, options.md, '-o', name, '--atoms', '4000', '--steps', '100000', '--sync'),
                           cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, start_new_session=True)
    killed = folder / name
    end = time.monotonic() + 60
    while time.monotonic() < end and not (killed.exists() and killed.stat().st_size > 200000):
        time.sleep(0.1)
    # Meanwhile no other job may write to it: none that creates it anew, and none of ours that rewrites it.
    for words in (command(1, options.md, '-o', name, '--atoms', '4000', '--steps', '1'),
                  [options.cairn, 'arrays', 'recover', name], [options.cairn, 'arrays', 'compact', name]):
        status, said = run(*words)
        check(status != 0 and ('another job writes to it' in said or 'a job is writing to it' in said),
              f'{words[-3:]} on a file that a job writes to', said)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    # The ranks do not go with mpiexec.
    while subprocess.run(['pkill', '-KILL', '-f', name], check=False).returncode == 0:
        time.sleep(0.1)
    verified(name, 'killed')
    told, said = records(name)
    check('coordinates' in json.dumps(told), 'killed: nothing of what was synchronised is there', said)

    # Who is going to write has the lock before anything is read: as long as another job has it, nothing else is said, not
    # even of a file that is damaged.
    (folder / 'locked.nc').write_bytes(killed.read_bytes()[:-300])
    with open(folder / 'locked.nc', 'r+b') as held:
        ofd_setlk, far = 37, 1 << 62
        fcntl.fcntl(held, ofd_setlk, struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, far, 1, 0))
        for words in ([options.cairn, 'arrays', 'recover', 'locked.nc'], [options.cairn, 'arrays', 'compact', 'locked.nc'],
                      command(2, options.append, 'locked.nc')):
            status, said = run(*words)
            check(status != 0 and ('another job writes to it' in said or 'a job is writing to it' in said)
                  and 'damaged' not in said, f'{words[-2:]} on a locked file', said)

    # A full disk, as a limit on the size of files: the program hears of it.
    # With all of the index in one piece, and with a block in each of its segments.
    limited = dict(env, OMPI_MCA_btl='self', PMIX_MCA_gds='hash')  # Open MPI's own files would be too large, too
    whole = env
    for name, extra in (('full.nc', {}), ('segments.nc', {'CAIRN_ARRAYS_INDEX': '1'})):
        env = dict(limited, **extra)
        status, said = run(*command(1, 'bash', '-c', f"trap '' XFSZ; ulimit -f 300; exec {options.md} -o {name} "
                                                     '--atoms 4000 --steps 40 --sync'))
        env = whole
        # By the program itself: mpiexec's own words on MPI_Abort may be lost, since they go through a file, too.
        check(status != 0 and 'coordinates: Not enough space' in said, 'full disk: the program was told nothing', said)
        verified(name, 'full disk')

    # Damage: the variable and the block are named, and no value is given.
    status, said = run(*command(2, options.user_codec, 'whole.nc', 'write'))
    check(status == 0, 'whole file', said)
    told = json.loads(run(options.cairn, 'arrays', 'info', '--blocks', '--json', 'whole.nc')[1])
    block = next(b for b in told['blocks'] if 'floats' in json.dumps(b))
    data = bytearray((folder / 'whole.nc').read_bytes())
    at = int(block['offset'])
    data[at + 5] ^= 0x20
    (folder / 'damaged.nc').write_bytes(data)
    status, said = run(*command(2, options.user_codec, 'damaged.nc', 'read'))
    check(status != 0 and "variable 'floats', block" in said and 'checksum is wrong' in said, 'damage', said)
    status, said = run(options.cairn, 'arrays', 'verify', 'damaged.nc')
    check(status == 1 and "variable 'floats'" in said, 'damage: verify', said)

    # A damaged part of the index: who needs it is told, on all ranks; nobody waits for another.
    env = dict(whole, CAIRN_ARRAYS_INDEX='1')
    status, said = run(*command(2, options.user_codec, 'parts.nc', 'write'))
    env = whole
    check(status == 0, 'index in parts', said)
    good = (folder / 'parts.nc').read_bytes()
    what = 'segment of the index of blocks is damaged'
    for place in range(len(good) - 1, len(good) // 2, -10):
        (folder / 'parts.nc').write_bytes(good[:place] + bytes([good[place] ^ 0x20]) + good[place + 1:])
        status, said = run(options.cairn, 'arrays', 'verify', 'parts.nc')
        if what in said:
            break
    check(what in said and status != 0, 'a damaged segment: verify', said)
    status, said = run(*command(2, options.user_codec, 'parts.nc', 'read'))
    check(status != 0 and what in said, 'a damaged segment: read', said)

    # Cut short: refused by open, or by what reads what is missing.
    (folder / 'short.nc').write_bytes(bytes(data[:at + 3]))
    status, said = run(*command(2, options.user_codec, 'short.nc', 'read'))
    check(status != 0 and 'cut short' in said, 'cut short', said)

    # Words that mean nothing.
    env['CAIRN_ARRAYS_CODEC'] = 'nonsense'
    status, said = run(*command(1, options.user_codec, 'words.nc', 'write'))
    check(status != 0 and "'nonsense'" in said, 'a codec that there is not', said)

    for failure in FAILURES:
        print('FAILED:', failure)
    if not FAILURES:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if FAILURES else 0


sys.exit(main())
