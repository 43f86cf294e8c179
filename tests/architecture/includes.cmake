# Who may include whom, as data, and each #include of every source held to it.
#   cmake -D SOURCE=folder -P includes.cmake
cmake_minimum_required(VERSION 3.25)

# Folder, then the folders it may include besides itself. A file belongs to the longest folder that fits.
# Where `all` stands a program is built of everything.
set(table
  "base:"
  "data: base"
  "kernels:"
  "autograd: kernels"
  "model: base data kernels"
  "nn: autograd kernels model data base"
  "inspect: nn autograd model data base"
  "train: nn autograd kernels model data base"
  "infer: kernels model data base"
  "capi: infer inspect train nn autograd kernels model data base"
  "data/generator: data base" "cli: all" "bench: all" "tests: all")

# The libraries of others: the first folder of the name in <>, who may include it, and in which files.
set(libraries
  "fmt: base/.*[.]cc data/.*[.]cc autograd/.*[.]cc nn/.*[.]cc model/.*[.]cc inspect/.*[.]cc train/.*[.]cc infer/.*[.]cc cli/.* bench/.* tests/.*"
  "hwy: kernels/.* bench/machine[.]cc"
  "nlohmann: base/json[.]cc"
  "utf8proc.h: base/utf8[.]cc"
  "cxxopts.hpp: cli/.*"
  "httplib.h: cli/serve/server[.]cc"
  "catch2: tests/catch_compat[.]hpp"
  "mpi.h: train/communicator[.]cc")

set(folders "")
foreach(row IN LISTS table)
  string(REGEX MATCH "^([^:]+):(.*)$" _ "${row}")
  list(APPEND folders ${CMAKE_MATCH_1})
  string(REPLACE " " ";" allowed_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# The longest folder of the table that holds the path, or nothing.
function(folder_of path result)
  set(best "")
  foreach(folder IN LISTS folders)
    string(LENGTH "${folder}" length)
    string(LENGTH "${best}" best_length)
    string(FIND "${path}" "${folder}/" at)
    if(at EQUAL 0 AND length GREATER best_length)
      set(best ${folder})
    endif()
  endforeach()
  set(${result} "${best}" PARENT_SCOPE)
endfunction()

set(faults "")
set(files 0)
foreach(top IN LISTS folders)
  if(top MATCHES "/")
    continue()
  endif()
  file(GLOB_RECURSE sources RELATIVE "${SOURCE}" "${SOURCE}/${top}/*.h" "${SOURCE}/${top}/*.hpp"
    "${SOURCE}/${top}/*.cc")
  foreach(source IN LISTS sources)
    math(EXPR files "${files} + 1")
    folder_of("${source}" from)
    file(STRINGS "${SOURCE}/${source}" includes REGEX "^ *# *include *[\"<]")
    foreach(include IN LISTS includes)
      string(REGEX MATCH "([\"<])([^\">]+)" _ "${include}")
      set(quote "${CMAKE_MATCH_1}")
      set(name "${CMAKE_MATCH_2}")
      if(quote STREQUAL "<")
        foreach(row IN LISTS libraries)
          string(REGEX MATCH "^([^:]+): (.*)$" _ "${row}")
          set(library "${CMAKE_MATCH_1}")
          string(REPLACE " " "|" places "${CMAKE_MATCH_2}")
          if((name STREQUAL library OR name MATCHES "^${library}/") AND NOT source MATCHES "^(${places})$")
            list(APPEND faults "${source} includes <${name}>, which is not for this file")
          endif()
        endforeach()
        continue()
      endif()
      folder_of("${name}" to)
      if(NOT to STREQUAL "" AND NOT EXISTS "${SOURCE}/${name}")
        list(APPEND faults "${source} includes \"${name}\", which does not exist")
      elseif(to STREQUAL "")
        # Not from the root: a header made by the build, which no library's header may include.
        if(NOT from MATCHES "^(cli|tests|bench)$")
          list(APPEND faults "${source} includes \"${name}\": write the path from the root")
        endif()
      elseif(NOT to STREQUAL from AND NOT "all" IN_LIST allowed_${from}
             AND NOT to IN_LIST allowed_${from})
        list(APPEND faults "${source} includes \"${name}\": ${from} may not include ${to}")
      endif()
    endforeach()
  endforeach()
endforeach()

if(files LESS 50)
  message(FATAL_ERROR "only ${files} sources found in ${SOURCE}")
endif()
if(faults)
  list(JOIN faults "\n  " text)
  message(FATAL_ERROR "includes against the table:\n  ${text}")
endif()
message(STATUS "${files} sources keep to the table")
