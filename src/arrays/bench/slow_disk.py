"""A disk of known, low speed on one machine: a loop device on a file in memory, with ext4 without a journal, that the
kernel holds to a rate in both directions (control groups of version 1: blkio.throttle). Its speed is measured, and
where the limit isn't kept nothing is claimed. Needs root.

No device or mount outlives the process, however that ends: it is mounted where only this process and its children see
it, the file's name is gone at once, and the device is told to go with its last user. (After a SIGKILL an empty folder
stays in /tmp, and the rate of a device number, which the next disk sets anew.) Not a module for threads.
"""
import ctypes
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BLKIO = pathlib.Path('/sys/fs/cgroup/blkio')
IMPOSSIBLE = 77  # a status: not to be measured here
CLONE_NEWNS = 0x00020000
BLKFLSBUF = 0x1261


class Impossible(Exception):
    pass


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Impossible(f'{" ".join(command)}: {done.stderr.strip()}')
    return done.stdout.strip()


def end_politely():
    """Being told to stop is left through the ends of disks and programs."""
    for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(name, lambda number, _: sys.exit(128 + number))


def mount_unseen():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise Impossible(f'no mounts of one\'s own: {os.strerror(ctypes.get_errno())}')
    call('mount', '--make-rprivate', '/')


class Disk:
    """A slow disk, from entering to leaving; `path` is where it is mounted, `folder` a place beside it."""

    def __init__(self, rate, size):
        self.rate, self.size, self.speeds = rate, size, {}
        self.number = self.device = self.held = None
        self.mounted = False

    def __enter__(self):
        if os.geteuid() != 0:
            raise Impossible('a loop device needs root')
        if not (BLKIO / 'blkio.throttle.write_bps_device').exists():
            raise Impossible('no blkio controller of control groups of version 1')
        mount_unseen()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-disk-'))
        self.path = self.folder / 'mnt'
        try:
            self.path.mkdir()
            self.attach()
            call('mkfs.ext4', '-q', '-O', '^has_journal', '-E', 'lazy_itable_init=0', self.device)
            self.mount()
            self.use(self.rate)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(name, signal.SIG_IGN)  # ending already
        if self.number:
            self.limit(0)
        if self.mounted and subprocess.run(['umount', str(self.path)], capture_output=True).returncode != 0:
            subprocess.run(['umount', '--lazy', str(self.path)])  # a program that ends just now has it open
        if self.held is not None:
            os.close(self.held)
        shutil.rmtree(self.folder, ignore_errors=True)
        end_politely()

    def attach(self):
        handle, image = tempfile.mkstemp(prefix='cairn-disk-', dir='/dev/shm')
        try:
            os.ftruncate(handle, self.size)
            device = call('losetup', '--find', '--show', image)
        finally:
            os.close(handle)
            os.unlink(image)
        # Held open here, and detached: the kernel does so when the last one closes it.
        self.held = os.open(device, os.O_RDONLY)
        call('losetup', '--detach', device)
        numbers = os.fstat(self.held).st_rdev
        self.device, self.number = device, f'{os.major(numbers)}:{os.minor(numbers)}'

    def mount(self):
        call('mount', self.device, str(self.path))
        self.mounted = True

    def forget(self):
        """Nothing of the disk is cached afterwards, and nothing else's cache is touched."""
        call('umount', str(self.path))
        self.mounted = False
        fcntl.ioctl(self.held, BLKFLSBUF)
        self.mount()

    def limit(self, rate):
        for way in ('read', 'write'):
            (BLKIO / f'blkio.throttle.{way}_bps_device').write_text(f'{self.number} {rate}')

    def use(self, rate):
        """From here on: MiB a second. Measured once."""
        self.rate = rate
        self.limit(rate << 20)
        if rate not in self.speeds:
            self.speeds[rate] = [round(speed, 1) for speed in self.probe()]

    def probe(self):
        """MiB a second of plain writing and reading, measured; they must be what was asked for."""
        for _ in range(6):  # other work on the machine may come between; that the limit is kept shows in a calm moment
            speeds = self.plain()
            if all(0.8 * self.rate <= speed <= 1.2 * self.rate for speed in speeds):
                return speeds
        raise Impossible(f'the limit is not kept: {speeds[0]:.1f} MiB/s written, {speeds[1]:.1f} read, {self.rate} asked')

    def plain(self):
        mib = max(16, 2 * self.rate)
        path = self.path / 'probe'
        block = os.urandom(1 << 20)
        begin = time.monotonic()
        with open(path, 'wb') as file:
            for _ in range(mib):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        written = mib / (time.monotonic() - begin)
        self.forget()
        begin = time.monotonic()
        with open(path, 'rb') as file:
            while file.read(1 << 20):
                pass
        read = mib / (time.monotonic() - begin)
        path.unlink()
        return written, read


class Memory:
    """A folder in memory, with what Disk has: what the layer costs where nothing is slow."""

    speeds = {}

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='cairn-disk-', dir='/dev/shm'))
        self.path = self.folder
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def forget(self):
        pass

    def use(self, rate):
        pass
