//===- AssembleKernels.cpp - PTX as machine code
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chips.h"
#include "Toolkit.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

namespace pipewright {
#define GEN_PASS_DEF_ASSEMBLEKERNELS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static NVVM::NVVMTargetAttr getTarget(gpu::ObjectAttr object) {
  return cast<NVVM::NVVMTargetAttr>(object.getTarget());
}

namespace {
/// A folder of temporary files, for as long as it is in scope.
class TemporaryFolder {
public:
  TemporaryFolder() {
    error = llvm::sys::fs::createUniqueDirectory("pipewright-kernels", folder);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    if (!error)
      llvm::sys::fs::remove_directories(folder);
  }

  std::error_code getError() const { return error; }
  std::string getPath(const Twine &name) const {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }

private:
  SmallString<128> folder;
  std::error_code error;
};

/// The PTX of one binary for one chip.
struct Job {
  gpu::BinaryOp binary;
  gpu::ObjectAttr source;
  std::string code;
  std::string error;
};
} // namespace

static std::string readFile(const Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

static std::error_code writeFile(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  stream << text;
  stream.close();
  if (!error)
    error = stream.error();
  stream.clear_error();
  return error;
}

/// Assembles the PTX of \p job in files whose names begin with \p name.
static void assemble(Job &job, StringRef assembler, const std::string &name) {
  std::string input = name + ".ptx", output = name + ".cubin",
              messages = name + ".txt";
  StringRef text = job.source.getObject().getValue().rtrim('\0');
  if (std::error_code error = writeFile(input, text)) {
    job.error = "cannot write '" + input + "': " + error.message();
    return;
  }
  std::string chip = getTarget(job.source).getChip().str();
  std::string architecture = "-arch=" + chip;
  StringRef command[] = {assembler, "-O3", architecture, input, "-o", output};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(assembler, command, std::nullopt,
                                         redirects, /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &failure);
  job.code = status == 0 ? readFile(output) : std::string();
  if (!job.code.empty())
    return;
  std::string reason = failure + readFile(messages);
  if (reason.empty())
    reason = "there is no output";
  job.error = "cannot assemble the kernels for " + chip + ": " +
              StringRef(reason).trim().str();
}

static gpu::ObjectAttr makeObject(gpu::ObjectAttr source,
                                  gpu::CompilationTarget format,
                                  StringRef code) {
  MLIRContext *context = source.getContext();
  return gpu::ObjectAttr::get(context, source.getTarget(), format,
                              StringAttr::get(context, code),
                              source.getProperties(), source.getKernels());
}

namespace {
struct AssembleKernels
    : pipewright::impl::AssembleKernelsBase<AssembleKernels> {
  void runOnOperation() override {
    llvm::Expected<std::string> assembler = cuda::findAssembler();
    if (!assembler) {
      getOperation().emitError(llvm::toString(assembler.takeError()));
      return signalPassFailure();
    }
    SmallVector<Job> jobs;
    for (auto binary : getOperation().getOps<gpu::BinaryOp>())
      for (Attribute object : binary.getObjects())
        jobs.push_back({binary, cast<gpu::ObjectAttr>(object), {}, {}});
    if (failed(run(jobs, *assembler)))
      return signalPassFailure();
    for (auto binary : getOperation().getOps<gpu::BinaryOp>())
      setObjects(binary, jobs);
  }

private:
  /// Assembles all, side by side.
  LogicalResult run(MutableArrayRef<Job> jobs, StringRef assembler) {
    TemporaryFolder folder;
    if (folder.getError())
      return getOperation().emitError("cannot create a temporary folder: ")
             << folder.getError().message();
    parallelFor(&getContext(), 0, jobs.size(), [&](size_t index) {
      assemble(jobs[index], assembler, folder.getPath(Twine(index)));
    });
    for (Job &job : jobs)
      if (!job.error.empty())
        return job.binary.emitOpError() << job.error;
    return success();
  }

  void setObjects(gpu::BinaryOp binary, ArrayRef<Job> jobs) {
    SmallVector<Attribute> objects;
    gpu::ObjectAttr oldest;
    for (const Job &job : jobs) {
      if (job.binary != binary)
        continue;
      objects.push_back(
          makeObject(job.source, gpu::CompilationTarget::Binary, job.code));
      auto getNumber = [](gpu::ObjectAttr object) {
        return cuda::getChipNumber(getTarget(object).getChip());
      };
      if (!oldest || getNumber(job.source) < getNumber(oldest))
        oldest = job.source;
    }
    if (oldest)
      objects.push_back(oldest);
    binary.setObjectsAttr(ArrayAttr::get(&getContext(), objects));
  }
};
} // namespace
