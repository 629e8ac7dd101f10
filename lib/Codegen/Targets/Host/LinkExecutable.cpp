//===- LinkExecutable.cpp - lld as a library
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Host.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace pipewright;

LLD_HAS_DRIVER(elf)

/// The path of a library that every program loads, or an error that says where
/// it was looked for.
static Expected<std::string> findSystemLibrary(StringRef name) {
  constexpr StringLiteral folders[] = {"/lib/x86_64-linux-gnu",
                                       "/usr/lib/x86_64-linux-gnu",
                                       "/lib64",
                                       "/usr/lib64",
                                       "/lib",
                                       "/usr/lib"};
  for (StringRef folder : folders) {
    SmallString<64> path(folder);
    sys::path::append(path, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return createStringError("cannot find " + name +
                           " in the system's library folders");
}

Error host::linkExecutable(const LinkOptions &options, StringRef path) {
  Expected<std::string> c = findSystemLibrary("libc.so.6");
  if (!c)
    return c.takeError();
  Expected<std::string> math = findSystemLibrary("libm.so.6");
  if (!math)
    return math.takeError();

  std::vector<std::string> arguments = {
      "ld.lld", "-o", path.str(), "-z", "noexecstack", "-z", "relro",
      // The loader refuses to load what is marked as an executable. What
      // several ranks in a process define must stay their own.
      "-shared", "-e", "_start", "-Bsymbolic",
      // One machine may build while it trains: leave it its cores.
      "--threads=1"};
  llvm::append_range(arguments, options.objects);
  llvm::append_range(arguments,
                     ArrayRef<std::string>{options.runtimeLibrary, "-rpath",
                                           options.runtimePath, "--as-needed",
                                           *math, *c,
                                           // The runtime's own needs are met
                                           // where it is loaded.
                                           "--allow-shlib-undefined"});
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());

  std::string messages;
  raw_string_ostream stream(messages);
  lld::Result result =
      lld::lldMain(pointers, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return Error::success();
  return createStringError("cannot link '" + path +
                           "': " + StringRef(messages).trim());
}
