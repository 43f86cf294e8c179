# Inference is free of the graph: no archive that it links has a symbol of the tape.
#   cmake -D NM=nm -D ARCHIVES=a.a,b.a -P no_tape.cmake
cmake_minimum_required(VERSION 3.25)

string(REPLACE "," ";" archives "${ARCHIVES}")
foreach(archive IN LISTS archives)
  execute_process(COMMAND ${NM} -C ${archive} OUTPUT_VARIABLE symbols ERROR_QUIET RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT symbols MATCHES "glassbox::")
    message(FATAL_ERROR "${archive}: ${NM} shows no symbol of glassbox")
  endif()
  string(REGEX MATCH "[^\n]*glassbox::(Tape|Value|Matrix|Gpt|GraphCache|Expansion)<[^\n]*" found "${symbols}")
  if(found)
    message(FATAL_ERROR "${archive} knows the tape: ${found}")
  endif()
endforeach()
