import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commandSession } from '../command-session.ts'
import type { Host } from '../session.ts'

/** Runs a program of ten lines with a library, which is copied to where the library is installed. */
const library = (name: string, file: string, packages: Host['packages'], kind: Host['kind'] = 'library'): Host => ({
  name,
  kind,
  packages,
  async start({ path, folder, home, server: { url, command, args, env } }) {
    const program = join(folder, file)
    await copyFile(fileURLToPath(new URL(`../programs/${file}`, import.meta.url)), program)
    const server = JSON.stringify(url === undefined ? { command, args, env } : { url })
    return commandSession({
      command: (tool, values) => ['node', program, server, tool, values],
      cwd: home,
      env: { PATH: path, HOME: home, OPENAI_AGENTS_DISABLE_TRACING: '1', MASTRA_TELEMETRY_DISABLED: '1' },
    })
  },
})

const mcpAdapters = ['@langchain/mcp-adapters', '@langchain/core', '@langchain/langgraph'] as const

export const libraries: readonly Host[] = [
  library('mcp-remote', 'mcp-remote.mjs', ['mcp-remote', '@modelcontextprotocol/sdk'], 'tool'),
  library('AI SDK', 'ai-sdk.mjs', ['@ai-sdk/mcp']),
  library('OpenAI Agents', 'openai-agents.mjs', ['@openai/agents', 'zod']),
  library('Mastra', 'mastra.mjs', ['@mastra/mcp', '@mastra/core', 'zod']),
  library('LangChain', 'langchain.mjs', [...mcpAdapters]),
]
