//===- Auto.cpp - The best schedule for given costs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Search.h"

using namespace pipewright;

namespace pipewright {
void registerAuto(ScheduleRegistry &registry) {
  registry.add({/*name=*/"auto",
                /*summary=*/"the best of all these and of a search",
                /*source=*/"pipewright", searchSchedule, /*chunks=*/0,
                /*hasGroups=*/false, /*isSearch=*/true});
}
} // namespace pipewright
