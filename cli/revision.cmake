# Writes OUTPUT, a header that defines GLASSBOX_REVISION: the git revision of SOURCE_DIR, or "unknown".
cmake_minimum_required(VERSION 3.25)
set(revision unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE status
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(status EQUAL 0)
    set(revision "${answer}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define GLASSBOX_REVISION \"@revision@\"\n" @ONLY)
