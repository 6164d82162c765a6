# A training that gets its data from the loader processes of PyTorch. If one of them ends, the loader raises an error in
# the training. When it is told to end it makes ten more steps, for which it needs them, and then saves its state.
import datetime
import os
import signal
import time

import torch
from torch.utils.data import DataLoader, Dataset


class Data(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        time.sleep(0.05)
        return torch.full((1000,), float(index))


told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(step))
state, step = torch.zeros(1000), 0
for batch in DataLoader(Data(), batch_size=4, num_workers=2):
    state += batch.sum(0)
    step += 1
    if step == 1:
        now, epoch = datetime.datetime.utcnow().isoformat(), os.environ.get("JOBSET_EPOCH", "")
        print('{"time":"%sZ","msg":"start","pid":%d,"epoch":"%s"}' % (now, os.getpid(), epoch))
    if told and step >= told[0] + 10:
        break
torch.save({"step": step, "state": state}, "/tmp/checkpoint.part")
os.replace("/tmp/checkpoint.part", "/tmp/checkpoint")
saved = torch.load("/tmp/checkpoint")
samples = 4 * saved["step"]  # 0, 1, 2 ... were added up
whole = bool((saved["state"] == samples * (samples - 1) / 2).all())
print("saved %s, told %d, after %d steps" % ("whole" if whole else "in part", len(told), step - told[0]))
