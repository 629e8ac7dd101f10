"""What tests of kernels do with modules in text form.

kernels.py layers FILE            prints the layer functions that a rank runs
kernels.py ptx FOLDER < MODULE    writes the PTX of each gpu.binary of MODULE,
                                  a file per module and chip, and prints their
                                  names
kernels.py assemble PTXAS FOLDER...
                                  assembles each file of the folders, prints the
                                  registers of its kernels, and fails if one
                                  spills
"""

import pathlib
import re
import subprocess
import sys


def print_layers(path):
    """Prints the functions of a file of --emit-ir that are compiled: forward,
    backward, weight and recomputation, but not what they were made of."""
    is_wanted = False
    for line in pathlib.Path(path).read_text().splitlines():
        if match := re.match(r'  nn\.function @"?([^"(]+)"?\(', line):
            is_wanted = re.search(r"\.[fbwr]$", match[1]) is not None
        if is_wanted:
            print(line)
        if line == "  }":
            is_wanted = False


def unescape(text):
    """The characters of a string as MLIR prints it."""
    return re.sub(r"\\([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), text).replace("\\\\", "\\")


def write_ptx(folder):
    """Writes FOLDER/<module>.<chip>.ptx."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for line in sys.stdin:
        match = re.match(r"\s*gpu\.binary @(\S+) ", line)
        if not match:
            continue
        for chip, code in re.findall(r'chip = "(\w+)".*?assembly = "([^"]*)"', line):
            path = folder / f"{match[1]}.{chip}.ptx"
            path.write_text(unescape(code))
            print(path)


def assemble(ptxas, path):
    """What ptxas says of each kernel of a file: its name, its registers and the
    bytes that it spills."""
    chip = path.suffixes[-2].lstrip(".")
    command = [ptxas, "-v", "--warn-on-spills", f"-arch={chip}", str(path), "-o", "/dev/null"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return re.findall(
        r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers",
        report,
        re.DOTALL,
    )


def assemble_all(ptxas, folders):
    """Assembles all files and counts their kernels."""
    count = 0
    spilling = 0
    for path in sorted(path for folder in folders for path in pathlib.Path(folder).glob("*.ptx")):
        for name, spilled, registers in assemble(ptxas, path):
            print(f"{path.name} {name}: {registers} registers, {spilled} bytes spilled")
            count += 1
            spilling += spilled != "0"
    print(f"{count} kernels, {spilling} of them spill")
    return 1 if spilling or not count else 0


if __name__ == "__main__":
    if sys.argv[1] == "layers":
        print_layers(sys.argv[2])
    elif sys.argv[1] == "ptx":
        write_ptx(sys.argv[2])
    else:
        sys.exit(assemble_all(sys.argv[2], sys.argv[3:]))
