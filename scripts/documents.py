#!/usr/bin/env python3
"""Checks what documents say of the tree: documents.py [FILE...], else every .md file of the tree.

- A link to a file of the tree leads to one, and so does a path in code quotes that begins with a folder of the tree.
- Prose is wrapped at 100 columns. Tables, blocks of code, headings, links on a line of their own and what is written
  between `<!-- name -->` and `<!-- end -->` or `<!-- name: end -->` by a script may be longer.

Prints each fault on a line of its own, with file and line; the exit status is 1 if there is one.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
QUOTED = re.compile(r"`([^`\s]+)`")
LONGEST = 100


def files():
    """What git tracks; in an unpacked archive, or without git, all but what is hidden or built."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode == 0:
            return listed.stdout.splitlines()
    own = [path for path in ROOT.iterdir() if not path.name.startswith((".", "build"))]
    found = [each for path in own for each in ([path] if path.is_file() else path.rglob("*")) if each.is_file()]
    return [str(path.relative_to(ROOT)) for path in found]


def faults_of(path, tops):
    fenced = written = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if line.startswith("<!--"):
            written = "end" not in line
        if fenced or line.startswith("    "):
            continue
        for target in LINK.findall(line):
            if "://" not in target and not (path.parent / target).exists():
                yield number, f"the link leads nowhere: {target}"
        for word in QUOTED.findall(line):
            word = word.rstrip("/")
            plain = not re.search(r"[*<>{}…$|]|NAME|CODEC|N\b", word)
            if "/" in word and word.split("/")[0] in tops and plain and not (ROOT / word).exists():
                yield number, f"there is no {word}"
        short = len(line) <= LONGEST or line.startswith(("|", "#", "!["))
        if not short and not written and not re.fullmatch(r"\s*\S+", line):
            yield number, f"{len(line)} columns"


def main():
    listed = files()
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or [ROOT / name for name in listed if name.endswith(".md")]
    tops = {name.split("/")[0] for name in listed if "/" in name}
    found = [(path.relative_to(ROOT), *fault) for path in paths for fault in faults_of(path, tops)]
    for path, number, what in found:
        print(f"{path}:{number}: {what}")
    if not found:
        print(f"documents: {len(paths)} pages lead to what is there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
