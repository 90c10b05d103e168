"""OpenAI: the agent's tools as functions for the chat completions and the responses API."""

from kgagent.adapters.openai.sync import SyncOpenAITools
from kgagent.adapters.openai.tools import OpenAITools

__all__ = ["OpenAITools", "SyncOpenAITools"]
