"""Small trees for the tests of the house's tools."""

import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class SmallTree:
    """A temporary folder with the given files: {path: text}."""

    def __init__(self, files):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write(files)

    def write(self, files):
        for path, text in files.items():
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def run(self, tool, *words):
        """(exit status, what it printed) of a tool of tools/ on this tree."""
        done = subprocess.run(
            [ROOT / "tools" / tool, self.root, *words], capture_output=True, text=True
        )
        return done.returncode, done.stdout + done.stderr

    def git(self, *words):
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", "-C", self.root, *identity, *words], check=True,
                       capture_output=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()
