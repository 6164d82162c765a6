# Every rank adds up numbers with all others, step by step, as many as the argument says: a rank that is gone ends the run of all.
import sys
import time

from mpi4py import MPI

world = MPI.COMM_WORLD
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 600):
    total = world.allreduce(step)
    if world.rank == 0:
        print(f"step {step}: {world.size} ranks, sum {total}", flush=True)
    time.sleep(1)
