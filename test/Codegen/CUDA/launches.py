"""Compares the launches of a rank executable with what its images say of their
kernels.

launches.py parameters RANK     prints the module, the name and the number of
                                parameters of each kernel, for the recorder
launches.py check RANK RECORD   compares RECORD, what the recorder printed, with
                                the images; prints what differs and fails, or
                                prints how much was compared
"""

import collections
import json
import re
import struct
import sys

# Of sections `.nv.info.<kernel>` (a format, a code, and a value of 16 bits or
# of so many bytes), and of `.nv.info` itself.
PARAMETER, PARAMETER_BYTES, THREADS, REGISTERS = 0x17, 0x19, 0x05, 0x2F
SIZED, HALF = 4, 3

REGISTERS_PER_BLOCK = 65536
SHARED_BYTES = 48 * 1024

Kernel = collections.namedtuple("Kernel", "parameters bytes threads registers shared")


class Elf:
    """The sections and symbols of an ELF file of 64 bits."""

    def __init__(self, data):
        self.data = data
        offset, entry, count, names = struct.unpack_from("<Q10xHHH", data, 40)
        self.headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * entry) for i in range(count)]
        self.names = [self.string(names, header[0]) for header in self.headers]

    def string(self, section, offset):
        start = self.headers[section][4] + offset
        return self.data[start : self.data.index(b"\0", start)].decode()

    def contents(self, index):
        _, kind, _, _, offset, size = self.headers[index][:6]
        return b"" if kind == 8 else self.data[offset : offset + size]

    def sections(self, prefix):
        return [(name, index) for index, name in enumerate(self.names) if name.startswith(prefix)]

    def symbols(self):
        """(name, section, offset in it, size) of each symbol."""
        table = self.names.index(".symtab")
        strings = self.headers[table][6]
        for name, _, _, section, value, size in struct.iter_unpack("<IBBHQQ", self.contents(table)):
            yield self.string(strings, name), section, value, size


def attributes(data):
    """The (code, value) pairs of a section of information."""
    position = 0
    while position < len(data):
        kind, code, number = struct.unpack_from("<BBH", data, position)
        position += 4
        yield code, data[position : position + number] if kind == SIZED else number
        position += number if kind == SIZED else 0


def read_code(data):
    """The kernels of machine code, by name."""
    elf = Elf(data)
    names = [symbol[0] for symbol in elf.symbols()]
    registers = {}
    for code, value in attributes(elf.contents(elf.names.index(".nv.info"))):
        if code == REGISTERS:
            symbol, count = struct.unpack("<II", value)
            registers[names[symbol]] = count
    kernels = {}
    for section, index in elf.sections(".nv.info."):
        name = section.removeprefix(".nv.info.")
        found = list(attributes(elf.contents(index)))
        parameters = sorted(
            (ordinal, offset, size >> 18)
            for _, ordinal, offset, size in (struct.unpack("<IHHI", v) for c, v in found if c == PARAMETER)
        )
        shared = [elf.headers[i][5] for n, i in elf.sections(".nv.shared.") if n == f".nv.shared.{name}"]
        kernels[name] = Kernel(
            [(offset, size) for _, offset, size in parameters],
            next(v for c, v in found if c == PARAMETER_BYTES),
            next(struct.unpack("<III", v) for c, v in found if c == THREADS),
            registers[name],
            sum(shared),
        )
    return kernels


def read_ptx(text):
    """The numbers of parameters of the kernels of PTX, by name."""
    entries = re.findall(r"\.entry (\w+)\((.*?)\)", text, re.DOTALL)
    return {name: parameters.count(".param") for name, parameters in entries}


def read_images(path):
    """By module: the kernels of each image of machine code, and those of PTX."""
    elf = Elf(open(path, "rb").read())
    codes, texts = collections.defaultdict(list), {}
    for name, section, value, size in elf.symbols():
        match = re.fullmatch(r"(\w+)\.image\d+", name)
        if not match:
            continue
        _, _, _, address, offset = elf.headers[section][:5]
        data = elf.data[value - address + offset :][:size]
        if data.startswith(b"\x7fELF"):
            codes[match[1]].append(read_code(data))
        else:
            assert data.endswith(b"\0"), f"{name} does not end in a zero"
            texts[match[1]] = read_ptx(data.rstrip(b"\0").decode())
    return codes, texts


def compare(launch, kernel):
    """What is wrong with a launch of a kernel."""
    blocks, threads = launch["blocks"], launch["threads"]
    count = threads[0] * threads[1] * threads[2]
    if min(blocks + threads) < 1 or blocks[0] >= 2**31 or max(blocks[1:]) > 65535:
        yield f"{blocks} blocks of {threads} threads"
    if tuple(threads) != kernel.threads:
        yield f"{threads} threads, but the kernel was made for {list(kernel.threads)}"
    if kernel.registers * count > REGISTERS_PER_BLOCK:
        yield f"{count} threads of {kernel.registers} registers"
    if kernel.shared > SHARED_BYTES:
        yield f"{kernel.shared} bytes of shared memory"
    # The host puts pointers, one after the other.
    if kernel.parameters != [(8 * i, 8) for i in range(len(launch["arguments"]))]:
        yield f"{len(launch['arguments'])} arguments, but the parameters {kernel.parameters}"
    if kernel.bytes != 8 * len(launch["arguments"]):
        yield f"{kernel.bytes} bytes of parameters"


def check(path, record):
    codes, texts = read_images(path)
    problems, launches, bindings = [], 0, 0
    for line in open(record):
        entry = json.loads(line)
        if "task" in entry:
            bindings = entry["bindings"]
            continue
        name = entry["name"]
        # The recorder puts each buffer into a terabyte of its own.
        if any(not 1 <= address >> 40 <= bindings for address in entry["arguments"]):
            problems.append(f"{name}: an address that is not of a buffer of the task")
        if "module" not in entry:
            continue
        launches += 1
        images = codes[entry["module"]]
        if not images or name not in texts[entry["module"]]:
            problems.append(f"{name}: no image of it")
        for image in images:
            problems += [f"{name}: {problem}" for problem in compare(entry, image[name])]
    print("\n".join(problems) if problems else f"{launches} launches agree with {sum(map(len, codes.values()))} images")
    return 1 if problems or not launches else 0


def print_parameters(path):
    for module, kernels in read_images(path)[1].items():
        for name, count in kernels.items():
            print(module, name, count)


if __name__ == "__main__":
    if sys.argv[1] == "parameters":
        print_parameters(sys.argv[2])
    else:
        sys.exit(check(*sys.argv[2:]))
