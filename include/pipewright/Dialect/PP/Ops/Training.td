//===- Training.td - The optimizer and its updates ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_OPS_TRAINING
#define PIPEWRIGHT_DIALECT_PP_OPS_TRAINING

include "pipewright/Dialect/PP/PPBase.td"

def PP_UpdateRuleOp : PP_Op<"update_rule", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "the optimizer of all trainable parameters";
  let description = [{
    Its hyper-parameters are options of a run. SGD keeps one state tensor per
    parameter (momentum), AdamW two.
  }];
  let arguments = (ins PP_OptimizerAttr:$optimizer);
  let assemblyFormat = "`` $optimizer attr-dict";
}

def PP_UpdateOp : PP_Op<"update", [HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the update of one parameter from its gradients";
  let description = [{
    `layers` lists the layers, by index and ascending, whose gradients for the
    parameter are added, in this order. More than one: the parameter is tied,
    or the pipeline has two directions.

    ```mlir
    pp.update @wte from layers [0, 13]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$parameter, DenseI64ArrayAttr:$layers);
  let assemblyFormat = "$parameter `from` `layers` $layers attr-dict";
}

#endif // PIPEWRIGHT_DIALECT_PP_OPS_TRAINING
