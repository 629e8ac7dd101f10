// RUN: pp-opt %s --nn-to-library=target=abacus --verify-diagnostics

// expected-error @below {{there is no target 'abacus'}}
module {
}
