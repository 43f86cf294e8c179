"""The Python module against the command line. Arguments: a text, a model of `glassbox train` on it
with 1 layer, 2 heads, width 8 and 30 steps, and the lines of `glassbox sample --seed 7
--num-samples 5`."""
import math
import sys
import threading

import glassbox

text, path, samples = sys.argv[1:]
model = glassbox.Model(path)
assert model.shape["vocab_size"] == 47 and model.bos == 46
ids = model.encode("the lamp")
assert model.decode(ids) == "the lamp" and model.token(model.bos) == "<bos>"

with open(samples, encoding="utf-8") as file:
    lines = file.read().split("\n")[:5]
assert [model.sample(seed=7, index=i) for i in range(5)] == lines
results = {}
threads = [threading.Thread(target=lambda i=i: results.update({i: model.sample(seed=7, index=i)}))
           for i in range(5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert [results[i] for i in range(5)] == lines

seen = []
assert model.sample("the", max_tokens=40, temperature=2,
                    on_token=lambda token: seen.append(token) or len(seen) < 2) == \
    " ".join(["the"] + seen) or not seen
try:
    model.sample("the", on_token=lambda token: 1 / 0, temperature=2)
    raised = False
except ZeroDivisionError:
    raised = True
assert raised or model.sample("the", temperature=2) == "the"
assert all("lamp" not in model.sample(seed=7, index=i, stop="lamp") for i in range(50))

logits = model.logits("the lamp")
assert len(logits) == 3 and len(logits[0]) == 47
targets = ids + [model.bos]
loss = sum(math.log(sum(math.exp(x) for x in row)) - row[target]
           for row, target in zip(logits, targets)) / 3
assert abs(loss - model.loss("the lamp")) < 1e-6
data, gradient = model.scalar("the lamp", "loss")
assert abs(data - loss) < 1e-6 and gradient == 1

# The gradient of the loss by a logit is (softmax - target) / positions.
row = logits[1]
chance = math.exp(row[ids[1]]) / sum(math.exp(x) for x in row)
assert abs(model.scalar("the lamp", "logits@1[lamp]")[1] - (chance - 1) / 3) < 1e-6

for wrong in (lambda: glassbox.Model("/no/such/model"), lambda: model.encode("zebraxyz"),
              lambda: model.scalar("the lamp", "nothing"), lambda: model.sample(top_p=7),
              lambda: model.logits([0] * 17), lambda: model.token(47)):
    try:
        wrong()
        raise SystemExit("not refused")
    except glassbox.Error as error:
        assert str(error) and "\n" not in str(error)
try:
    model.sample(hotness=3)
    raise SystemExit("an unknown option was taken")
except TypeError as error:
    assert "hotness" in str(error)

trainer = glassbox.Trainer(text, n_layer=1, n_head=2, n_embd=8, steps=30)
losses = trainer.run()
assert len(losses) == 30 and losses[0] > losses[-1] and trainer.steps_done == 30
trainer.save("python.safetensors")
with open("python.safetensors", "rb") as ours, open(path, "rb") as theirs:
    assert ours.read() == theirs.read()
assert trainer.model().sample(seed=7) == lines[0]
