# The functions that every CMakeLists.txt of the project uses, and nothing else:
#
#   add_pipewright_library(NAME sources...)      plain C++ on LLVM's support library, no MLIR
#   add_pipewright_ir_library(NAME sources...)   MLIR code: shared precompiled header
#   add_pipewright_tool(NAME sources...)         a program
#   add_pipewright_registry(NAME sources...)     a folder whose files are the entries of a registry
#   add_pipewright_text(NAME PATH)               a text file as a string literal
#   add_pipewright_passes(PHASE)                 TableGen of a phase's Passes.td

option(PIPEWRIGHT_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(PIPEWRIGHT_FUZZ "Build the fuzzers, and with the sanitizers; needs clang" OFF)
if(PIPEWRIGHT_FUZZ)
  set(PIPEWRIGHT_SANITIZE ON)
endif()

add_library(PipewrightOptions INTERFACE)
target_include_directories(PipewrightOptions INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
target_include_directories(PipewrightOptions SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_options(PipewrightOptions INTERFACE
  -fno-exceptions -fvisibility-inlines-hidden -Wall -Wextra -Wno-unused-parameter
  $<$<CXX_COMPILER_ID:GNU>:-Wno-comment>)
target_compile_definitions(PipewrightOptions INTERFACE
  PIPEWRIGHT_VERSION="${PROJECT_VERSION}")
if(PIPEWRIGHT_SANITIZE)
  target_compile_options(PipewrightOptions INTERFACE -fsanitize=address,undefined -fno-sanitize=vptr)
  target_link_options(PipewrightOptions INTERFACE -fsanitize=address,undefined)
endif()
if(PIPEWRIGHT_FUZZ)
  target_compile_options(PipewrightOptions INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(add_pipewright_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC PipewrightOptions ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# The headers of MLIR and of the dialects that nearly every pass includes,
# compiled once.
function(add_pipewright_precompiled_header)
  set(source ${PROJECT_BINARY_DIR}/Precompiled.cpp)
  file(WRITE ${source}.new "// Holds the precompiled header.\n")
  configure_file(${source}.new ${source} COPYONLY)
  add_library(PipewrightPrecompiled OBJECT ${source})
  target_link_libraries(PipewrightPrecompiled PUBLIC PipewrightOptions)
  target_precompile_headers(PipewrightPrecompiled PRIVATE
    ${PROJECT_SOURCE_DIR}/tools/cmake/Precompiled.h)
  add_dependencies(PipewrightPrecompiled PipewrightNNIncGen PipewrightPPIncGen)
endfunction()

function(add_pipewright_ir_library name)
  add_pipewright_library(${name} ${ARGN})
  if(PIPEWRIGHT_PCH)
    target_precompile_headers(${name} REUSE_FROM PipewrightPrecompiled)
  endif()
endfunction()

# A program; IR adds MLIR's and LLVM's shared libraries.
function(add_pipewright_tool name)
  cmake_parse_arguments(ARG "IR" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  # -fPIC as in the libraries, instead of -fPIE: the precompiled header is theirs.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin
    POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  target_link_libraries(${name} PRIVATE PipewrightOptions ${ARG_LINK_LIBS})
  if(ARG_IR)
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    if(PIPEWRIGHT_PCH)
      target_precompile_headers(${name} REUSE_FROM PipewrightPrecompiled)
    endif()
  endif()
endfunction()

# Writes LIST (below the build's include/pipewright) with one line
# PIPEWRIGHT_ENTRY(<source name>) per source. The registry includes it twice:
# to declare register<Name> and to call it.
function(add_pipewright_registry name)
  cmake_parse_arguments(ARG "IR" "LIST" "DEPENDS;LINK_LIBS" ${ARGN})
  set(entries "")
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    get_filename_component(entry ${source} NAME_WE)
    string(APPEND entries "PIPEWRIGHT_ENTRY(${entry})\n")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/include/pipewright/${ARG_LIST})
  file(CONFIGURE OUTPUT ${list} CONTENT "${entries}" @ONLY)
  set(forward ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_DEPENDS)
    list(APPEND forward DEPENDS ${ARG_DEPENDS})
  endif()
  if(ARG_LINK_LIBS)
    list(APPEND forward LINK_LIBS ${ARG_LINK_LIBS})
  endif()
  if(ARG_IR)
    add_pipewright_ir_library(${name} ${forward})
  else()
    add_pipewright_library(${name} ${forward})
  endif()
endfunction()

# include/pipewright/<Phase>/Passes.td -> Passes.h.inc, and the reference page.
macro(add_pipewright_passes phase)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name=${phase})
  mlir_tablegen(${phase}Passes.md -gen-pass-doc)
  add_public_tablegen_target(Pipewright${phase}PassesIncGen)
  set_property(GLOBAL APPEND PROPERTY PIPEWRIGHT_GENERATED_DOCS
    ${CMAKE_CURRENT_BINARY_DIR}/${phase}Passes.md)
endmacro()

# Makes a text file of the sources a C string literal that code includes:
# <source folder>/NAME -> <build>/include/pipewright/PATH.inc
function(add_pipewright_text name path)
  file(READ ${name} text)
  set(list ${PROJECT_BINARY_DIR}/include/pipewright/${path}.inc)
  file(CONFIGURE OUTPUT ${list} CONTENT "R\"text(${text})text\"\n" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${name})
endfunction()

add_pipewright_precompiled_header()
