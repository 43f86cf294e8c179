# Makes a model and its sentences with the program, then runs a test on them.
#   cmake -D GLASSBOX=program -D TEXT=file -D FOLDER=folder -D "TEST=command..." -P run.cmake
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${GLASSBOX}" train "${TEXT}" --n-layer 1 --n-head 2 --n-embd 8 --steps 30 --out m.safetensors
  WORKING_DIRECTORY "${FOLDER}" ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${GLASSBOX}" sample m.safetensors --seed 7 --num-samples 5
  WORKING_DIRECTORY "${FOLDER}" OUTPUT_FILE "${FOLDER}/samples.txt" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${TEST} "${TEXT}" m.safetensors samples.txt WORKING_DIRECTORY "${FOLDER}"
  COMMAND_ERROR_IS_FATAL ANY)
