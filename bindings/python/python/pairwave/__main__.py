"""Runs the command: python -m pairwave."""

import sys

from pairwave import main

if __name__ == "__main__":
    sys.exit(main(["pairwave", *sys.argv[1:]]))
