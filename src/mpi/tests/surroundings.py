"""The environment that recorded MPI programs of the tests run in."""
import os


def environment(build, mpi):
    """This one, without settings of a recording, for more ranks than cores."""
    env = {name: value for name, value in os.environ.items() if not name.startswith('CAIRN_') and name != 'LD_PRELOAD'}
    env.update(OMPI_MCA_mpi_yield_when_idle='1', OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_ALLOW_RUN_AS_ROOT='1',
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', LC_ALL='C')
    # MPICH would spin.
    yielding = build / 'src/mpi/tests/libyield.so'
    if mpi == 'mpich' and yielding.exists():
        env['LD_PRELOAD'] = str(yielding)
    return env
