# A program of the kind that is hard to stop: a data loader in a session of its own,
# and a daemon without a parent that ignores SIGTERM. The one holds a lock and the
# other a port, without which the next run cannot work.
import datetime
import fcntl
import os
import signal
import socket
import sys

held = []  # what is closed when it is forgotten


def loader():
    held.append(open("/tmp/train.lock", "w"))
    fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)


def daemon():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork():
        os._exit(0)
    held.append(socket.socket())
    held[-1].bind(("127.0.0.1", 29500))
    held[-1].listen()


def beside(begin):
    """Runs a process in another session, and returns when it has begun."""
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        said = os.read(told, 1000).decode()
        if said != "ready":
            print(f"is something left of an earlier run? {said}", file=sys.stderr)
            sys.exit(3)
        return
    os.setsid()
    try:
        begin()
        os.write(tell, b"ready")
    except OSError as problem:
        os.write(tell, str(problem).encode())
        os._exit(1)
    while True:
        signal.pause()


beside(loader)
beside(daemon)
now, epoch = datetime.datetime.utcnow().isoformat(), os.environ.get("JOBSET_EPOCH", "")
print('{"time":"%sZ","msg":"start","pid":%d,"epoch":"%s"}' % (now, os.getpid(), epoch))
while True:
    signal.pause()
