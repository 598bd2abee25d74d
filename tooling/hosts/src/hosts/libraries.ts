import { copyFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programSession } from '../program-session.ts'
import type { Host, Session } from '../session.ts'

/** Runs a short program with a library, which is copied to where the library is installed. */
function library(
  name: string,
  [file, ...packages]: readonly [file: string, ...Host['packages']],
  { lacks, ...more }: Partial<Pick<Host, 'kind' | 'overHttpAlone'>> & Pick<Session, 'lacks'> = {},
): Host {
  return {
    name,
    kind: 'library',
    packages,
    ...more,
    async start({ path, folder, home, server: { url, command, args, env, needsLogin } }) {
      for (const part of [file, 'run.mjs', 'oauth.mjs']) {
        const copy = join(folder, `${basename(home)}-${part}`)
        await copyFile(fileURLToPath(new URL(`../programs/${part}`, import.meta.url)), copy)
        // Another program may be reading the file that this one replaces.
        await rename(copy, join(folder, part))
      }
      const server = JSON.stringify(url === undefined ? { command, args, env } : { url, needsLogin })
      return programSession({
        command: ['node', join(folder, 'run.mjs'), join(folder, file), server],
        cwd: home,
        env: {
          PATH: path,
          HOME: home,
          BROWSER: 'xdg-open',
          OPENAI_AGENTS_DISABLE_TRACING: '1',
          MASTRA_TELEMETRY_DISABLED: '1',
        },
        lacks,
      })
    },
  }
}

export const libraries: readonly Host[] = [
  library('mcp-remote', ['mcp-remote.mjs', 'mcp-remote', '@modelcontextprotocol/sdk'], {
    kind: 'tool',
    overHttpAlone: 'mcp-remote takes the URL of a server, and no command',
  }),
  library('AI SDK', ['ai-sdk.mjs', '@ai-sdk/mcp'], {
    lacks: { progress: 'the client that it creates has no callback for progress' },
  }),
  library('OpenAI Agents', ['openai-agents.mjs', '@openai/agents', 'zod'], {
    lacks: {
      prompt: 'its `MCPServer` lists and reads resources, and has no method for prompts',
      progress: 'a call of its `MCPServer` has no callback for progress',
    },
  }),
  library('Mastra', ['mastra.mjs', '@mastra/mcp', '@mastra/core', 'zod']),
  library('LangChain', ['langchain.mjs', '@langchain/mcp-adapters', '@langchain/core', '@langchain/langgraph']),
]
