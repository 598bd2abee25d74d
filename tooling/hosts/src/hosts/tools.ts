import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandSession } from '../command-session.ts'
import type { ServerEntry } from '../serve.ts'
import type { Host, Setup } from '../session.ts'

/** Writes the configuration that most tools read. */
async function writeServers(home: string, { url, command, args, env }: ServerEntry): Promise<string> {
  const file = join(home, 'mcp.json')
  const demo = url === undefined ? { command, args, env } : { type: 'streamable-http', url }
  await writeFile(file, JSON.stringify({ mcpServers: { demo } }))
  return file
}

const environmentOf = ({ path, home }: Setup): Record<string, string> => ({
  PATH: path,
  HOME: home,
  DO_NOT_TRACK: '1',
  MCP_INSPECTOR_SECRET_STORE: 'memory',
})

export const inspectorCli: Host = {
  name: 'Inspector CLI',
  kind: 'tool',
  packages: ['@modelcontextprotocol/inspector'],
  async start(setup) {
    const file = await writeServers(setup.home, setup.server)
    const inspect = ['mcp-inspector', '--cli', '--config', file, '--server', 'demo'] as const
    const command = (tool: string, args: string) => {
      const values = Object.entries(JSON.parse(args)).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`])
      return [...inspect, '--method', 'tools/call', '--tool-name', tool, ...values] as const
    }
    return commandSession({ command, cwd: setup.home, env: environmentOf(setup) })
  },
}

export const mcporter: Host = {
  name: 'mcporter',
  kind: 'tool',
  packages: ['mcporter'],
  async start(setup) {
    const file = await writeServers(setup.home, setup.server)
    const command = (tool: string, args: string) =>
      ['mcporter', '--config', file, 'call', `demo.${tool}`, '--args', args, '--output', 'json'] as const
    return commandSession({ command, cwd: setup.home, env: environmentOf(setup) })
  },
}

export const mcpc: Host = {
  name: 'mcpc',
  kind: 'tool',
  packages: ['@apify/mcpc'],
  async start(setup) {
    const file = await writeServers(setup.home, setup.server)
    const env = environmentOf(setup)
    const mcpcCommand = (...args: readonly string[]) => promisify(execFile)('mcpc', args, { cwd: setup.home, env })
    await mcpcCommand('connect', `${file}:demo`, '@demo')
    const command = (tool: string, args: string) => ['mcpc', '--json', '@demo', 'tools-call', tool, args] as const
    const session = commandSession({ command, cwd: setup.home, env })
    return {
      ...session,
      read: async (uri) => (await mcpcCommand('--json', '@demo', 'resources-read', uri)).stdout,
      prompt: async (name, values) =>
        (await mcpcCommand('--json', '@demo', 'prompts-get', name, JSON.stringify(values))).stdout,
      async close() {
        await session.close()
        await mcpcCommand('close', '@demo')
      },
    }
  },
}
