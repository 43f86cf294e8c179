"""glassbox from Python: one file over the C functions of libglassbox, by ctypes. numpy is used where
it is installed and not needed.

    import glassbox
    trainer = glassbox.Trainer("data/first_grade.txt", steps=500, batch_size=16)
    losses = [trainer.step() for _ in range(500)]
    model = trainer.model()
    print(model.sample("the cat", seed=7))
    data, gradient = model.scalar("the cat sleeps", "logits@2[sleeps]")

The library is looked for in $GLASSBOX_LIBRARY, beside this file, and where the system keeps its own.
"""
import ctypes
import ctypes.util
import os
import sys

try:
    import numpy
except ImportError:
    numpy = None

__all__ = ["Error", "Model", "Trainer", "version"]


class Error(Exception):
    """What the library refuses, in one line."""


class _Shape(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "parameters")]


class _Sampling(ctypes.Structure):
    _fields_ = [("temperature", ctypes.c_double), ("top_k", ctypes.c_size_t),
                ("top_p", ctypes.c_double), ("min_p", ctypes.c_double),
                ("repetition_penalty", ctypes.c_double), ("repeat_last_n", ctypes.c_size_t),
                ("max_tokens", ctypes.c_size_t), ("stop", ctypes.POINTER(ctypes.c_char_p)),
                ("stop_count", ctypes.c_size_t)]


class _Training(ctypes.Structure):
    _fields_ = [("n_layer", ctypes.c_size_t), ("n_head", ctypes.c_size_t),
                ("n_embd", ctypes.c_size_t), ("block_size", ctypes.c_size_t),
                ("steps", ctypes.c_uint64), ("batch_size", ctypes.c_size_t),
                ("learning_rate", ctypes.c_double), ("seed", ctypes.c_uint32),
                ("double_precision", ctypes.c_int), ("tokenizer", ctypes.c_char_p)]


_OnToken = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32)
_Ids = ctypes.POINTER(ctypes.c_uint32)
_Doubles = ctypes.POINTER(ctypes.c_double)
_FUNCTIONS = {
    "version": (ctypes.c_char_p,),
    "last_error": (ctypes.c_char_p,),
    "free_text": (None, ctypes.c_void_p),
    "load": (ctypes.c_void_p, ctypes.c_char_p),
    "free": (None, ctypes.c_void_p),
    "model_shape": (_Shape, ctypes.c_void_p),
    "bos": (ctypes.c_uint32, ctypes.c_void_p),
    "token": (ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint32),
    "encode": (ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_char_p, _Ids, ctypes.c_size_t),
    "decode": (ctypes.c_void_p, ctypes.c_void_p, _Ids, ctypes.c_size_t),
    "logits": (ctypes.c_int, ctypes.c_void_p, _Ids, ctypes.c_size_t, _Doubles),
    "loss": (ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, _Doubles),
    "default_sampling": (_Sampling,),
    "sample": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Sampling),
               ctypes.c_uint32, ctypes.c_uint64, _OnToken, ctypes.c_void_p),
    "scalar": (ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, _Doubles,
               _Doubles),
    "default_training": (_Training,),
    "trainer_new": (ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Training)),
    "trainer_free": (None, ctypes.c_void_p),
    "trainer_step": (ctypes.c_int, ctypes.c_void_p, _Doubles),
    "trainer_steps_done": (ctypes.c_uint64, ctypes.c_void_p),
    "trainer_save": (ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p),
    "trainer_model": (ctypes.c_void_p, ctypes.c_void_p),
}


def _open():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libglassbox.so")
    path = os.environ.get("GLASSBOX_LIBRARY")
    if not path:
        path = beside if os.path.exists(beside) else ctypes.util.find_library("glassbox")
    if not path:
        raise ImportError("glassbox: expected libglassbox.so, found none; install it, or set "
                          "GLASSBOX_LIBRARY to its path")
    library = ctypes.CDLL(path)
    functions = {}
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(library, "glassbox_" + name)
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return type("Library", (), {name: staticmethod(f) for name, f in functions.items()})


_library = _open()


def version():
    """Of the library, "0.1.0"."""
    return _library.version().decode()


def _checked(result, failed):
    if result == failed:
        raise Error(_library.last_error().decode())
    return result


def _taken(pointer):
    text = ctypes.string_at(_checked(pointer, None)).decode(errors="replace")
    _library.free_text(pointer)
    return text


def _set(struct, options, what):
    fields = {name for name, _ in struct._fields_}
    for name, value in options.items():
        if name not in fields:
            raise TypeError("%s has no option %r; there are %s" %
                            (what, name, ", ".join(sorted(fields))))
        setattr(struct, name, value)
    return struct


class Model:
    """A trained model. Any number of threads may use one at once."""

    def __init__(self, path):
        """Reads a model file."""
        self._pointer = _checked(_library.load(os.fsencode(path)), None)

    @classmethod
    def _of(cls, pointer):
        model = cls.__new__(cls)
        model._pointer = _checked(pointer, None)
        return model

    def __del__(self):
        if getattr(self, "_pointer", None):
            _library.free(self._pointer)

    @property
    def shape(self):
        """A dictionary: vocab_size, block_size, n_layer, n_head, n_embd, parameters."""
        shape = _library.model_shape(self._pointer)
        return {name: getattr(shape, name) for name, _ in _Shape._fields_}

    @property
    def bos(self):
        """The id of the token that begins and ends a sentence."""
        return _library.bos(self._pointer)

    def token(self, id):
        """The token of an id, as text."""
        return _checked(_library.token(self._pointer, id), None).decode()

    def encode(self, text):
        """A text's token ids, without BOS."""
        text = text.encode()
        count = _checked(_library.encode(self._pointer, text, None, 0), -1)
        ids = (ctypes.c_uint32 * count)()
        _library.encode(self._pointer, text, ids, count)
        return list(ids)

    def decode(self, ids):
        """The text of token ids."""
        ids = list(ids)
        return _taken(_library.decode(self._pointer, (ctypes.c_uint32 * len(ids))(*ids), len(ids)))

    def logits(self, text_or_ids):
        """The logits after BOS and after each token: a row a position, a column a token. A numpy
        array where there is numpy, else a list of lists. Ids are taken as they are; a text gets
        BOS in front."""
        if isinstance(text_or_ids, str):
            ids = [self.bos] + self.encode(text_or_ids)
        else:
            ids = list(text_or_ids)
        width = self.shape["vocab_size"]
        values = (ctypes.c_double * (len(ids) * width))()
        _checked(_library.logits(self._pointer, (ctypes.c_uint32 * len(ids))(*ids), len(ids),
                                 values), -1)
        if numpy is not None:
            return numpy.frombuffer(values, dtype=numpy.float64).reshape(len(ids), width)
        return [list(values[i * width:(i + 1) * width]) for i in range(len(ids))]

    def loss(self, sentence):
        """Nats a token, the sentence's end counted."""
        loss = ctypes.c_double()
        _checked(_library.loss(self._pointer, sentence.encode(), ctypes.byref(loss)), -1)
        return loss.value

    def sample(self, prompt="", seed=42, index=0, stop=(), on_token=None, **options):
        """A sentence that begins with the prompt: line `index` of `glassbox sample --seed SEED`.
        Options: temperature, top_k, top_p, min_p, repetition_penalty, repeat_last_n, max_tokens.
        on_token(token as text) is called with each new token and ends the sentence by returning
        False."""
        sampling = _set(_library.default_sampling(), options, "sample()")
        stop = [stop] if isinstance(stop, str) else list(stop)
        sampling.stop = (ctypes.c_char_p * len(stop))(*[text.encode() for text in stop])
        sampling.stop_count = len(stop)
        raised = []

        def called(_, token):
            try:
                return 0 if on_token is not None and on_token(self.token(token)) is False else 1
            except BaseException:  # an exception cannot pass through C; it goes on behind it
                raised.append(sys.exc_info()[1])
                return 0

        text = _taken(_library.sample(self._pointer, prompt.encode(), ctypes.byref(sampling), seed,
                                      index, _OnToken(called), None))
        if raised:
            raise raised[0]
        return text

    def scalar(self, sentence, name):
        """(data, gradient) of any scalar of the computation of a sentence's loss, by its name:
        "layers.0.attention.query[7][3]", "logits@2[cat]", "loss"."""
        data, gradient = ctypes.c_double(), ctypes.c_double()
        _checked(_library.scalar(self._pointer, sentence.encode(), name.encode(),
                                 ctypes.byref(data), ctypes.byref(gradient)), -1)
        return data.value, gradient.value


class Trainer:
    """Trains a new model on a text file, one sentence a line, as `glassbox train` does. Options:
    n_layer, n_head, n_embd, block_size, steps, batch_size, learning_rate, seed,
    double_precision, tokenizer."""

    def __init__(self, corpus, **options):
        if isinstance(options.get("tokenizer"), str):
            options["tokenizer"] = options["tokenizer"].encode()
        training = _set(_library.default_training(), options, "Trainer()")
        self.steps = training.steps
        self._pointer = _checked(
            _library.trainer_new(os.fsencode(corpus), ctypes.byref(training)), None)

    def __del__(self):
        if getattr(self, "_pointer", None):
            _library.trainer_free(self._pointer)

    def step(self):
        """One step. Returns the loss of before its update, in nats a token."""
        loss = ctypes.c_double()
        _checked(_library.trainer_step(self._pointer, ctypes.byref(loss)), -1)
        return loss.value

    @property
    def steps_done(self):
        return _library.trainer_steps_done(self._pointer)

    def run(self):
        """All the steps that are left. Returns their losses."""
        return [self.step() for _ in range(self.steps - self.steps_done)]

    def save(self, path):
        """Writes the model file."""
        _checked(_library.trainer_save(self._pointer, os.fsencode(path)), -1)

    def model(self):
        """The model as it is now."""
        return Model._of(_library.trainer_model(self._pointer))
