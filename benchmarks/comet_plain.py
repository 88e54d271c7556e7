"""The plain side of `benchmarks/comet.py`, run by the interpreter that has COMET.

python comet_plain.py make FOLDER TEXTS.json HIDDEN LAYERS     checkpoints of that size, with random weights
python comet_plain.py predict CHECKPOINT FILES.json            CometModel.predict on each file's samples, in turn
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

# The folder of this script holds a comet.py, and must not be looked into for the package.
sys.path[0] = str(Path(__file__).resolve().parent.parent / "tests" / "comet")


def make(folder: Path, texts: list[str], hidden: int, layers: int) -> None:
    """Checkpoints ``regression``, ``kiwi`` and ``xcomet`` over one encoder."""
    from make_checkpoints import make_checkpoint, make_encoder

    make_encoder(folder / "encoder", texts, hidden=hidden, layers=layers, window=512, vocabulary=4000)
    for name in ("regression", "kiwi", "xcomet"):
        make_checkpoint(name, folder / "encoder", folder / name)


def predict(checkpoint: str, files: list[list[dict[str, str]]]) -> None:
    """Print the scores of each file."""
    from comet import load_from_checkpoint

    model = load_from_checkpoint(checkpoint, local_files_only=True)
    print(json.dumps([model.predict(one, batch_size=16, gpus=0, progress_bar=False)["scores"] for one in files]))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(Path(sys.argv[2]), json.loads(Path(sys.argv[3]).read_text()), int(sys.argv[4]), int(sys.argv[5]))
    else:
        predict(sys.argv[2], json.loads(Path(sys.argv[3]).read_text()))
