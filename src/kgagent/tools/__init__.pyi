from .base import BoundTool as BoundTool
from .base import Tool as Tool
from .base import ToolResult as ToolResult
from .context import ToolContext as ToolContext
from .payload import Payload as Payload
from .payload import ToolText as ToolText
from .registry import TOOLS as TOOLS
from .registry import Toolset as Toolset
