"""Prints the names that Biopython reads from files: one a line, and an empty line after each file.

Arguments: pairs of a kind and a file. A kind is newick or a format of Bio.AlignIO. Bytes that are not UTF-8 pass through.
"""

import sys

from Bio import AlignIO, Phylo

arguments = sys.argv[1:]
for kind, path in zip(arguments[::2], arguments[1::2]):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        if kind == "newick":
            names = [leaf.name for leaf in Phylo.read(file, "newick").get_terminals()]
        else:
            names = [row.id for row in AlignIO.read(file, kind)]
    text = "".join(f"{name}\n" for name in names) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
