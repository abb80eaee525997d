"""Makes a wheel of the Python package `cairn`: what pip runs for `pip install .` (PEP 517), by way of CMake."""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def version():
    return re.search(r'project\(cairn VERSION (\S+)', (ROOT / 'CMakeLists.txt').read_text()).group(1)


def information():
    return f'cairn-{version()}.dist-info'


def texts():
    """The files that describe the wheel."""
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    platform = re.sub(r'\W', '_', sysconfig.get_platform())
    metadata = ('Metadata-Version: 2.1\nName: cairn\n' f'Version: {version()}\n'
                'Summary: Reads what cairn recorded of a parallel program\nLicense: BSD-3-Clause\nRequires-Python: >=3.11\n'
                'Requires-Dist: numpy\nProvides-Extra: all\nRequires-Dist: pandas; extra == "all"\n'
                'Requires-Dist: matplotlib; extra == "all"\n')
    wheel = f'Wheel-Version: 1.0\nGenerator: cairn\nRoot-Is-Purelib: false\nTag: {tag}-{tag}-{platform}\n'
    return f'{tag}-{tag}-{platform}', {'METADATA': metadata, 'WHEEL': wheel}


def compile_into(folder):
    """The package, into `folder`/cairn."""
    with tempfile.TemporaryDirectory(prefix='cairn-wheel-') as build:
        generator = [] if shutil.which('ninja') else ['-G', 'Unix Makefiles']
        subprocess.run(['cmake', '--preset', 'release', *generator, '-S', ROOT, '-B', build, '-DCAIRN_UNITY=ON',
                        f'-DCAIRN_PYTHON_PROGRAM={sys.executable}',
                        *os.environ.get('CAIRN_CMAKE_OPTIONS', '').split()], check=True)
        # Without pybind11 there is no such target, and CMake has said why.
        subprocess.run(['cmake', '--build', build, '--target', 'cairn_python', '--parallel', str(os.cpu_count() or 1)], check=True)
        shutil.copytree(pathlib.Path(build, 'src/python/cairn'), pathlib.Path(folder, 'cairn'))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, information())
    folder.mkdir()
    for name, text in texts()[1].items():
        (folder / name).write_text(text)
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tags, described = texts()
    name = f'cairn-{version()}-{tags}.whl'
    with tempfile.TemporaryDirectory(prefix='cairn-wheel-') as folder:
        compile_into(folder)
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob('*'))
                 if path.is_file() and '__pycache__' not in path.parts}
    files.update({f'{information()}/{each}': text.encode() for each, text in described.items()})
    files[f'{information()}/LICENSE'] = (ROOT / 'LICENSE').read_bytes()
    record = ''
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
            record += f'{path},sha256={digest},{len(content)}\n'
        wheel.writestr(f'{information()}/RECORD', record + f'{information()}/RECORD,,\n')
    return name


class UnsupportedOperation(Exception):
    """Where a frontend asks for a source archive: the repository is that."""


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation('there are no source archives of the package alone')
