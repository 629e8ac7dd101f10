// RUN: pp-opt %s --split-input-file --pp-form-layers --verify-diagnostics

// expected-error @below {{has no 'pp.model' to form layers of}}
module {
}
