# Prints a line a hundred times a second, and one more when it is told to end.
# Signal 12 (SIGUSR2) and SIGTERM end it, 63 makes it use up all memory.
import datetime
import os
import signal
import sys
import time

epoch, beats = os.environ.get("JOBSET_EPOCH", ""), 0


def end(number, _):
    print(f"last {epoch} {beats}")
    sys.exit(1)


def eat(number, _):
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


signal.signal(signal.SIGUSR2, end)
signal.signal(signal.SIGTERM, end)
signal.signal(63, eat)
print('{"time":"%sZ","msg":"start","epoch":"%s"}' % (datetime.datetime.utcnow().isoformat(), epoch))
while True:
    time.sleep(0.01)
    beats += 1
    print(f"beat {epoch} {beats}")
