/* glassbox for C and for every language that calls C: train a small GPT, let it write, look at any
 * of its numbers. Link with libglassbox.
 *
 * Texts are UTF-8 and end with a zero byte; what a model of bytes writes may end within a
 * character. A function that fails returns NULL or a negative number, changes nothing, and leaves
 * one line that says why for glassbox_last_error(); nothing here prints or exits, and no exception
 * comes out. What a function gives to its caller is given back to the function named there; all of
 * these take NULL.
 */
#ifndef GLASSBOX_H
#define GLASSBOX_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GLASSBOX_API __attribute__((visibility("default")))
#else
#define GLASSBOX_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" */
GLASSBOX_API const char *glassbox_version(void);
/* Why the last call of this thread that failed did so; "" before there was one. Valid until the
 * thread's next call that fails. */
GLASSBOX_API const char *glassbox_last_error(void);
/* Gives back a text that a function returned as char *. */
GLASSBOX_API void glassbox_free_text(char *text);

/* ---- A trained model. Never changes, so any number of threads may use one at once. */

typedef struct glassbox_model glassbox_model;

typedef struct glassbox_shape {
  size_t vocab_size; /* tokens, the one that begins and ends a sentence among them */
  size_t block_size; /* positions of a sentence */
  size_t n_layer, n_head, n_embd;
  size_t parameters;
} glassbox_shape;

/* Reads a model file. To be given back to glassbox_free(). */
GLASSBOX_API glassbox_model *glassbox_load(const char *path);
GLASSBOX_API void glassbox_free(glassbox_model *model);
GLASSBOX_API glassbox_shape glassbox_model_shape(const glassbox_model *model);

/* The id of the token that begins and ends a sentence, BOS: vocab_size - 1. */
GLASSBOX_API uint32_t glassbox_bos(const glassbox_model *model);
/* The token of an id, valid as long as the model; NULL if there is none. */
GLASSBOX_API const char *glassbox_token(const glassbox_model *model, uint32_t id);
/* The tokens of a text, without BOS. Writes the first `capacity` ids and returns how many there
 * are; ids may be NULL if capacity is 0. Fails for words that the model does not know. */
GLASSBOX_API ptrdiff_t glassbox_encode(const glassbox_model *model, const char *text, uint32_t *ids,
                                       size_t capacity);
/* The text of tokens; BOS is left out. To be given back to glassbox_free_text(). */
GLASSBOX_API char *glassbox_decode(const glassbox_model *model, const uint32_t *ids, size_t count);

/* The logits after each of `count` tokens, row by row: logits[i * vocab_size + id] belongs to the
 * token behind ids[i]. A sentence begins with BOS, which the caller puts there. Returns 0. Fails
 * for more tokens than the block holds. */
GLASSBOX_API int glassbox_logits(const glassbox_model *model, const uint32_t *ids, size_t count,
                                 double *logits);
/* The loss of one sentence in nats a token, its end counted. Returns 0. */
GLASSBOX_API int glassbox_loss(const glassbox_model *model, const char *sentence, double *loss);

typedef struct glassbox_sampling {
  double temperature;        /* 0 always takes the likeliest token */
  size_t top_k;              /* 0 is off */
  double top_p;              /* 1 is off */
  double min_p;              /* 0 is off */
  double repetition_penalty; /* 1 is off */
  size_t repeat_last_n;      /* 0 is the whole sentence */
  size_t max_tokens;         /* behind the prompt; 0 is to the end of the block */
  const char *const *stop;   /* texts that end the sentence, which is cut before them; or NULL */
  size_t stop_count;
} glassbox_sampling;

/* Temperature 0.8, and everything else off. */
GLASSBOX_API glassbox_sampling glassbox_default_sampling(void);

/* Called with each new token, with what glassbox_sample() got as `user`. Anything but 0 goes on. */
typedef int (*glassbox_on_token)(void *user, uint32_t token);

/* The sentence that begins with `prompt`, to be given back to glassbox_free_text(). It depends on
 * the model, the prompt, the settings, the seed and the index alone, and is line `index`, from 0,
 * of `glassbox sample --seed SEED` with these settings. `on_token` may be NULL. */
GLASSBOX_API char *glassbox_sample(const glassbox_model *model, const char *prompt,
                                   const glassbox_sampling *sampling, uint32_t seed, uint64_t index,
                                   glassbox_on_token on_token, void *user);

/* Any scalar of the computation of a sentence's loss, in double, by its name, such as
 * "layers.0.attention.query[7][3]", "logits@2[cat]" or "loss": its data, and its gradient, the
 * derivative of the loss by it. Either may be NULL. Returns 0. */
GLASSBOX_API int glassbox_scalar(const glassbox_model *model, const char *sentence,
                                 const char *name, double *data, double *gradient);

/* ---- Training. A trainer belongs to one thread at a time. */

typedef struct glassbox_trainer glassbox_trainer;

typedef struct glassbox_training {
  size_t n_layer, n_head, n_embd, block_size;
  uint64_t steps;
  size_t batch_size; /* sentences a step */
  double learning_rate;
  uint32_t seed;
  int double_precision;  /* not 0: in double */
  const char *tokenizer; /* a kind of `glassbox train --tokenizer`; NULL is "word" */
} glassbox_training;

/* What `glassbox train` does without options. */
GLASSBOX_API glassbox_training glassbox_default_training(void);

/* A model on the text of a file, one sentence a line, as `glassbox train` begins it: the same
 * settings give the same bits. To be given back to glassbox_trainer_free(). */
GLASSBOX_API glassbox_trainer *glassbox_trainer_new(const char *corpus,
                                                    const glassbox_training *training);
GLASSBOX_API void glassbox_trainer_free(glassbox_trainer *trainer);
/* One step. *loss, which may be NULL, is that of before the step's update, in nats a token. Returns
 * 0; fails when all steps are done, and when the loss is not finite. */
GLASSBOX_API int glassbox_trainer_step(glassbox_trainer *trainer, double *loss);
GLASSBOX_API uint64_t glassbox_trainer_steps_done(const glassbox_trainer *trainer);
/* Writes the model file. Returns 0. */
GLASSBOX_API int glassbox_trainer_save(const glassbox_trainer *trainer, const char *path);
/* The model as it is now, to be given back to glassbox_free(). */
GLASSBOX_API glassbox_model *glassbox_trainer_model(const glassbox_trainer *trainer);

#ifdef __cplusplus
}
#endif

#endif /* GLASSBOX_H */
