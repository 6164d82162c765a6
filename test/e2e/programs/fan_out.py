# A launcher such as mpirun: 50 processes, each in a session of its own, of which every
# second one ignores SIGTERM. When one ends the launcher ends too, and leaves the others.
import datetime
import os
import signal
import sys

for rank in range(50):
    if os.fork() == 0:
        os.setsid()
        if rank % 2:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            signal.pause()
now, epoch = datetime.datetime.utcnow().isoformat(), os.environ.get("JOBSET_EPOCH", "")
print('{"time":"%sZ","msg":"start","pid":%d,"epoch":"%s"}' % (now, os.getpid(), epoch))
ended, status = os.wait()
print(f"process {ended} has ended with status {status}", file=sys.stderr)
sys.exit(4)
