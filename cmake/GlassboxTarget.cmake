# glassbox_library(NAME HEADERS h... SOURCES cc... [PUBLIC lib...] [PRIVATE lib...]): a folder's library,
# `glassbox::NAME` in the build tree and installed. Includes are written from the project's root.
#
# -ffp-contract=off: a multiply and an add that the source keeps apart stay apart, so the same source
#   gives the same bits on every target; where one rounding is meant the kernels say MulAdd.
# -fno-math-errno: else square roots do not vectorise.
add_library(glassbox_flags INTERFACE)
target_compile_options(glassbox_flags INTERFACE
  -fno-math-errno -ffp-contract=off -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wno-psabi
  -Wno-restrict)
# On x86 gcc clears a struct of 100 bytes by a string instruction, which takes as long as a small operation:
# an operation's arguments are such a struct.
include(CheckCXXCompilerFlag)
set(clear_by_vectors "-mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign")
check_cxx_compiler_flag("${clear_by_vectors}" GLASSBOX_CLEARS_BY_VECTORS)
if(GLASSBOX_CLEARS_BY_VECTORS)
  target_compile_options(glassbox_flags INTERFACE "${clear_by_vectors}")
endif()
# A later -O3 would turn off what -Ofast turns on, and nobody would hear that their flag did nothing:
# kernels/simd-inl.h refuses both.
if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE}" MATCHES "-Ofast")
  target_compile_definitions(glassbox_flags INTERFACE GLASSBOX_OFAST)
endif()

# Most of a small file is its headers: compiled a few at a time they are read once, and the program is
# built in less than half the time. OFF compiles each source alone, which finds a missing include.
option(GLASSBOX_UNITY "compile several small sources at a time" ON)

# glassbox_unity(TARGET BATCH): so many sources of the target at a time.
function(glassbox_unity target batch)
  if(GLASSBOX_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    # The compiler takes sources that another one includes for headers, and warns of their unnamed namespaces.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

function(glassbox_library name)
  cmake_parse_arguments(ARG "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(glassbox_${name} STATIC ${ARG_SOURCES})
  add_library(glassbox::${name} ALIAS glassbox_${name})
  target_sources(glassbox_${name} PUBLIC FILE_SET HEADERS
    BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${ARG_HEADERS})
  set_target_properties(glassbox_${name} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
    CXX_EXTENSIONS OFF)
  target_compile_features(glassbox_${name} PUBLIC cxx_std_20)
  target_link_libraries(glassbox_${name} PUBLIC ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:glassbox_flags>)
  # Below a folder of its own, since "base/error.h" is a name that others have too; the includes are the same.
  install(TARGETS glassbox_${name} EXPORT glassbox
    ARCHIVE COMPONENT dev
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/glassbox" COMPONENT dev)
endfunction()

# glassbox_program(NAME SOURCES cc... LIBRARIES lib...): a program of ours, built with the same flags.
function(glassbox_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_features(${name} PRIVATE cxx_std_20)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} glassbox_flags)
endfunction()
