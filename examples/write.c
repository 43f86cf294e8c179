/* Trains on a text for some steps, then lets the model write, word by word.
 *
 *     cc write.c -lglassbox -o write && ./write text.txt 1000
 */
#include <stdio.h>
#include <stdlib.h>

#include "glassbox.h"

static int fail(void) {
  fprintf(stderr, "%s\n", glassbox_last_error());
  return 1;
}

static int print_token(void *model, uint32_t token) {
  printf("%s ", glassbox_token(model, token));
  fflush(stdout);
  return 1; /* go on */
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: write TEXT STEPS\n");
    return 2;
  }
  glassbox_training training = glassbox_default_training();
  training.steps = strtoull(argv[2], NULL, 10);
  training.batch_size = 16;
  glassbox_trainer *trainer = glassbox_trainer_new(argv[1], &training);
  if (trainer == NULL) return fail();
  double loss = 0;
  while (glassbox_trainer_steps_done(trainer) < training.steps)
    if (glassbox_trainer_step(trainer, &loss) != 0) return fail();
  printf("loss %.3f\n", loss);

  glassbox_model *model = glassbox_trainer_model(trainer);
  glassbox_trainer_free(trainer);
  if (model == NULL) return fail();
  for (uint64_t i = 0; i < 3; ++i) {
    char *sentence = glassbox_sample(model, "", NULL, 42, i, print_token, model);
    if (sentence == NULL) return fail();
    printf("\n");
    glassbox_free_text(sentence);
  }
  glassbox_free(model);
  return 0;
}
