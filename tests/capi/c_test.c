/* The C functions as a C program uses them. Arguments: a text, a model file of `glassbox train` on
 * that text with 1 layer, 2 heads, width 8 and 30 steps, and a file with the lines of `glassbox
 * sample --seed 7 --num-samples 5`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glassbox.h"

static int failures = 0;
#define CHECK(condition)                                                             \
  do {                                                                               \
    if (!(condition)) {                                                              \
      ++failures;                                                                    \
      fprintf(stderr, "line %d: %s; last error: %s\n", __LINE__, #condition,         \
              glassbox_last_error());                                                \
    }                                                                                \
  } while (0)

static char *contents(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *bytes = malloc(1 << 20);
  *size = file != NULL ? fread(bytes, 1, (1 << 20) - 1, file) : 0;
  bytes[*size] = 0;
  if (file != NULL) fclose(file);
  return bytes;
}

static int count_tokens(void *user, uint32_t token) {
  (void)token;
  return ++*(int *)user < 3;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  CHECK(strcmp(glassbox_last_error(), "") == 0);
  CHECK(strlen(glassbox_version()) >= 5);

  /* What is refused. */
  CHECK(glassbox_load("/no/such/model") == NULL);
  CHECK(strstr(glassbox_last_error(), "/no/such/model") != NULL);
  CHECK(glassbox_load(NULL) == NULL);
  CHECK(glassbox_load(argv[1]) == NULL); /* a text is no model */
  CHECK(strstr(glassbox_last_error(), argv[1]) != NULL);
  CHECK(glassbox_encode(NULL, "a", NULL, 0) == -1);
  CHECK(glassbox_trainer_step(NULL, NULL) == -1);
  glassbox_free(NULL);
  glassbox_trainer_free(NULL);
  glassbox_free_text(NULL);

  /* Texts and tokens. */
  glassbox_model *model = glassbox_load(argv[2]);
  CHECK(model != NULL);
  if (model == NULL) return 1;
  const glassbox_shape shape = glassbox_model_shape(model);
  CHECK(shape.n_layer == 1 && shape.n_head == 2 && shape.n_embd == 8 && shape.block_size == 16);
  CHECK(shape.vocab_size == 47);
  CHECK(glassbox_bos(model) == 46);
  CHECK(strcmp(glassbox_token(model, 46), "<bos>") == 0);
  CHECK(glassbox_token(model, 47) == NULL);
  uint32_t ids[16];
  CHECK(glassbox_encode(model, "The lamp", ids, 16) == 2);
  CHECK(glassbox_encode(model, "the lamp", NULL, 0) == 2);
  CHECK(glassbox_encode(model, "the zebraxyz", ids, 16) == -1);
  CHECK(strstr(glassbox_last_error(), "zebraxyz") != NULL);
  char *text = glassbox_decode(model, ids, 2);
  CHECK(text != NULL && strcmp(text, "the lamp") == 0);
  glassbox_free_text(text);
  const uint32_t beyond = 47;
  CHECK(glassbox_decode(model, &beyond, 1) == NULL);

  /* Logits and loss agree: the loss is the mean of -ln softmax. */
  const uint32_t sentence[] = {46, ids[0], ids[1]};
  const uint32_t targets[] = {ids[0], ids[1], 46};
  double *logits = malloc(3 * shape.vocab_size * sizeof *logits);
  CHECK(glassbox_logits(model, sentence, 3, logits) == 0);
  double mean = 0;
  for (int i = 0; i < 3; ++i) {
    double sum = 0;
    for (size_t id = 0; id < shape.vocab_size; ++id)
      sum += exp(logits[(size_t)i * shape.vocab_size + id]);
    mean += (log(sum) - logits[(size_t)i * shape.vocab_size + targets[i]]) / 3;
  }
  double loss = 0;
  CHECK(glassbox_loss(model, "the lamp", &loss) == 0);
  CHECK(fabs(loss - mean) < 1e-6);
  uint32_t many[17];
  for (int i = 0; i < 17; ++i) many[i] = 0;
  CHECK(glassbox_logits(model, many, 17, logits) == -1);
  free(logits);

  /* A gradient by its name: of the loss by a logit, softmax less one, over the positions. */
  double data = 0, gradient = 0;
  CHECK(glassbox_scalar(model, "the lamp", "loss", &data, &gradient) == 0);
  CHECK(fabs(data - loss) < 1e-6 && gradient == 1);
  CHECK(glassbox_scalar(model, "the lamp", "logits@0[the]", &data, &gradient) == 0);
  CHECK(gradient < 0 && gradient > -1.0 / 3);
  CHECK(glassbox_scalar(model, "the lamp", "no.such.name", &data, NULL) == -1);

  /* The lines of `glassbox sample`. */
  size_t size = 0;
  char *lines = contents(argv[3], &size);
  const char *line = lines;
  for (uint64_t i = 0; i < 5; ++i) {
    text = glassbox_sample(model, "", NULL, 7, i, NULL, NULL);
    const char *const end = strchr(line, '\n');
    CHECK(text != NULL && end != NULL && strlen(text) == (size_t)(end - line) &&
          strncmp(text, line, strlen(text)) == 0);
    glassbox_free_text(text);
    line = end != NULL ? end + 1 : line;
  }
  free(lines);
  glassbox_sampling sampling = glassbox_default_sampling();
  sampling.max_tokens = 40;
  sampling.temperature = 2;
  int calls = 0;
  text = glassbox_sample(model, "the", &sampling, 3, 0, count_tokens, &calls);
  CHECK(text != NULL && strncmp(text, "the", 3) == 0 && calls <= 3);
  glassbox_free_text(text);
  sampling.top_p = 7;
  CHECK(glassbox_sample(model, "the", &sampling, 3, 0, NULL, NULL) == NULL);
  CHECK(strstr(glassbox_last_error(), "top_p") != NULL);
  const char *const stop[] = {"lamp"};
  sampling = glassbox_default_sampling();
  sampling.stop = stop;
  sampling.stop_count = 1;
  for (uint64_t i = 0; i < 50; ++i) {
    text = glassbox_sample(model, "", &sampling, 7, i, NULL, NULL);
    CHECK(text != NULL && strstr(text, "lamp") == NULL);
    glassbox_free_text(text);
  }

  /* Training gives the model of `glassbox train`, byte for byte. */
  glassbox_training training = glassbox_default_training();
  training.n_layer = 1;
  training.n_head = 2;
  training.n_embd = 8;
  training.steps = 30;
  CHECK(glassbox_trainer_new("/no/such/text", &training) == NULL);
  training.n_head = 3;
  CHECK(glassbox_trainer_new(argv[1], &training) == NULL);
  training.n_head = 2;
  glassbox_trainer *trainer = glassbox_trainer_new(argv[1], &training);
  CHECK(trainer != NULL);
  double first = 0;
  CHECK(glassbox_trainer_step(trainer, &first) == 0 && first > 3 && first < 5);
  while (glassbox_trainer_steps_done(trainer) < 30)
    CHECK(glassbox_trainer_step(trainer, NULL) == 0);
  CHECK(glassbox_trainer_step(trainer, NULL) == -1);
  CHECK(glassbox_trainer_save(trainer, "trained.safetensors") == 0);
  CHECK(glassbox_trainer_save(trainer, "/no/such/folder/model") == -1);
  size_t theirs = 0, ours = 0;
  char *want = contents(argv[2], &theirs), *got = contents("trained.safetensors", &ours);
  CHECK(theirs > 0 && theirs == ours && memcmp(want, got, ours) == 0);
  free(want);
  free(got);
  glassbox_model *trained = glassbox_trainer_model(trainer);
  double again = 0;
  CHECK(trained != NULL && glassbox_loss(trained, "the lamp", &again) == 0 && again == loss);
  glassbox_trainer_free(trainer);
  CHECK(glassbox_loss(trained, "the lamp", &again) == 0 && again == loss);
  glassbox_free(trained);
  glassbox_free(model);
  return failures == 0 ? 0 : 1;
}
