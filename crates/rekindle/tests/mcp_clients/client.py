"""Talks to a server with the Python SDK: lists everything, calls every tool, reads and gets.

usage: client.py MODE CALLS COMMAND [ARGUMENT...]; CALLS is JSON, a list of [tool, arguments].
Prints one JSON object. The SDK itself holds answers against the schemas of their tools.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(mode, calls, command):
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(server, mode=mode, read_timeout_seconds=30) as client:
        seen = {"version": client.protocol_version, "objects": []}
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        for name, arguments in calls:
            if arguments.get("digest") == "":
                arguments["digest"] = seen["objects"][-1]["digest"]
            result = await client.call_tool(name, arguments)
            if result.is_error:
                raise SystemExit(f"{name}: {result.content}")
            seen["objects"].append(result.structured_content)
        resources = (await client.list_resources()).resources
        seen["resources"] = [str(resource.uri) for resource in resources]
        for uri in seen["resources"]:
            await client.read_resource(uri)
        prompts = (await client.list_prompts()).prompts
        seen["prompts"] = [prompt.name for prompt in prompts]
        for name in seen["prompts"]:
            await client.get_prompt(name)
        return seen


print(json.dumps(asyncio.run(main(sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]))))
