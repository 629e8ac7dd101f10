//===- Elementwise.cpp - Work of elementwise ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

/// What one evaluation of a polynomial or a table costs, in FLOPs.
static constexpr int64_t transcendentalFlops = 10;

namespace pipewright {
void registerElementwise(FormulaRegistry &registry) {
  registry.addPerResultElement<
      nn::NegOp, nn::AbsOp, nn::SignOp, nn::SqrtOp, nn::RsqrtOp,
      nn::ReciprocalOp, nn::ReluOp, nn::FloorOp, nn::CeilOp, nn::NotOp,
      nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp, nn::ModOp, nn::MaxOp,
      nn::MinOp, nn::AndOp, nn::OrOp, nn::CompareOp, nn::SelectOp, nn::CastOp,
      nn::AccumulateOp>(1);
  registry.addPerResultElement<nn::ExpOp, nn::LogOp, nn::TanhOp, nn::ErfOp,
                               nn::SinOp, nn::CosOp, nn::SigmoidOp>(
      transcendentalFlops);
  registry.addPerResultElement<nn::SiluOp>(transcendentalFlops + 1);
  // A multiplication and an addition beside the error function, at least.
  registry.addPerResultElement<nn::GeluOp>(transcendentalFlops + 4);
  // exp(y log x).
  registry.addPerResultElement<nn::PowOp>(2 * transcendentalFlops + 1);
}
} // namespace pipewright
