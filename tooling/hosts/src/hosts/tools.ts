import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Command, commandSession } from '../command-session.ts'
import type { ServerEntry } from '../serve.ts'
import type { Host, Setup } from '../session.ts'

const run = promisify(execFile)

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
  BROWSER: 'xdg-open',
  DO_NOT_TRACK: '1',
  MCP_INSPECTOR_SECRET_STORE: 'file',
  MCP_AUTO_OPEN_ENABLED: 'true',
})

const pairsOf = (args: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(args).map(([name, value]) => `${name}=${value}`)

export const inspectorCli: Host = {
  name: 'Inspector CLI',
  kind: 'tool',
  packages: ['@modelcontextprotocol/inspector'],
  async start(setup) {
    const file = await writeServers(setup.home, setup.server)
    const inspect = (method: string, ...more: readonly string[]): Command => {
      return ['mcp-inspector', '--cli', '--config', file, '--server', 'demo', '--method', method, ...more]
    }
    if (setup.server.needsLogin) await logIn(inspect('tools/list'), environmentOf(setup))
    return commandSession({
      call: (tool, args) => inspect('tools/call', '--tool-name', tool, '--tool-args-json', args),
      prompt: (name, args) => inspect('prompts/get', '--prompt-name', name, '--prompt-args', ...pairsOf(args)),
      read: (uri) => inspect('resources/read', '--uri', uri),
      cwd: setup.home,
      env: environmentOf(setup),
    })
  },
}

/** Runs a command that prints the address of the page on which the user logs in. */
async function logIn([command, ...args]: Command, env: Record<string, string>): Promise<void> {
  const running = run(command, args, { cwd: env['HOME'], env })
  const open = (printed: unknown): void => {
    const [url] = /https?:\/\/\S*code_challenge\S*/.exec(String(printed)) ?? []
    if (url !== undefined) execFile(env['BROWSER'] ?? '', [url], { env })
  }
  for (const stream of [running.child.stdout, running.child.stderr]) stream?.on('data', open)
  await running
}

export const mcporter: Host = {
  name: 'mcporter',
  kind: 'tool',
  packages: ['mcporter'],
  async start(setup) {
    const file = await writeServers(setup.home, setup.server)
    const output = ['--output', 'json']
    return commandSession({
      call: (tool, args) => ['mcporter', '--config', file, 'call', `demo.${tool}`, '--args', args, ...output],
      read: (uri) => ['mcporter', '--config', file, 'resource', 'demo', uri],
      lacks: { prompt: '`mcporter --help` lists commands for tools and resources, and none for prompts' },
      cwd: setup.home,
      env: environmentOf(setup),
    })
  },
}

export const mcpc: Host = {
  name: 'mcpc',
  kind: 'tool',
  packages: ['@apify/mcpc'],
  async start(setup) {
    const { home, server } = setup
    const file = await writeServers(home, server)
    const env = environmentOf(setup)
    const mcpcCommand = (...args: readonly string[]) => run('mcpc', args, { cwd: home, env })
    if (server.needsLogin && server.url !== undefined) await mcpcCommand('login', server.url)
    await mcpcCommand('connect', `${file}:demo`, '@demo')
    const ask = (...args: readonly string[]): Command => ['mcpc', '--json', '@demo', ...args]
    const session = commandSession({
      call: (tool, args) => ask('tools-call', tool, args),
      prompt: (name, args) => ask('prompts-get', name, JSON.stringify(args)),
      read: (uri) => ask('resources-read', uri),
      cwd: home,
      env,
    })
    return {
      ...session,
      async close() {
        await session.close()
        await mcpcCommand('close', '@demo')
      },
    }
  },
}
