"""Packs the files of a folder into one, and back: gzip of a 4-byte little-endian length and the bytes, file after file,
the shortest first. Usage: pack.py pack FOLDER FILE | unpack FILE FOLDER; a FILE that is missing unpacks to nothing."""
import gzip
import os
import struct
import sys


def pack(folder, file):
    texts = sorted((open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)), key=lambda t: (len(t), t))
    with open(file, "wb") as out:
        out.write(gzip.compress(b"".join(struct.pack("<I", len(t)) + t for t in texts), 9, mtime=0))
    print(f"{file}: {len(texts)} texts, {sum(map(len, texts))} bytes, {os.path.getsize(file)} packed")


def unpack(file, folder):
    if not os.path.exists(file):
        return
    data, at, number = gzip.open(file).read(), 0, 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        open(os.path.join(folder, f"{number:04d}"), "wb").write(data[at + 4 : at + 4 + length])
        at, number = at + 4 + length, number + 1


{"pack": pack, "unpack": unpack}[sys.argv[1]](sys.argv[2], sys.argv[3])
