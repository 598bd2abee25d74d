import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gateway } from '@x/gateway'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { McpServer as OfficialServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleHost, killIn, startHost } from './host-program.ts'
import { serveOfficial } from './official-v1-server.ts'
import { processesOf } from './process-list.ts'
import { serveProtected } from './protected-server.ts'

const require = createRequire(import.meta.url)
const programOf = (name: string): string => join(require.resolve(`${name}/package.json`), '..', 'dist', 'index.js')

let folder = ''
beforeAll(async () => {
  folder = await bundleHost()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the host of the guide has seven servers, outlives each, and leaves no process when a signal ends it', async () => {
  const greet = tool('greet', { description: 'Greets', annotations: { readOnlyHint: true }, run: () => 'hello' })
  const greeter = () => createServer({ name: 'greeter', version: '1.0.0', state: false, tools: [greet] })
  let http = await serveHttp(greeter())
  const old = await serveOfficial(true, () => {
    const server = new OfficialServer({ name: 'old', version: '1.0.0' })
    server.registerTool('add', { description: 'Adds' }, () => ({ content: [{ type: 'text', text: 'added' }] }))
    return server
  })
  await using crm = await serveProtected()
  await using company = await serveHttp(gateway({ name: 'company', version: '1.0.0', upstreams: { inner: greeter() } }))
  const [everything, files] = ['everything', 'filesystem'].map((name) =>
    programOf(`@modelcontextprotocol/server-${name}`),
  )
  const mcpServers = {
    notes: { command: process.execPath, args: ['${workspaceFolder}/notes.mjs'], cwd: '${workspaceFolder}' },
    everything: { command: process.execPath, args: [everything, 'stdio', folder] },
    files: { command: process.execPath, args: [files, '${workspaceFolder}'] },
    greeter: { type: 'http', url: http.url },
    old: { url: old.url },
    crm: { url: crm.url },
    company: { url: company.url },
  }
  const file = join(folder, 'mcp.json')
  await writeFile(file, JSON.stringify({ mcpServers }))
  const host = startHost(folder, file)
  const call = async (name: string, args: object = {}): Promise<void> => {
    await host.prompt()
    host.say(`CALL ${name} ${JSON.stringify(args)}`)
  }
  const answer = async (name: string, pattern: RegExp, args?: object): Promise<void> => {
    await call(name, args)
    await host.waitFor(pattern)
  }

  await host.prompt()
  host.say('What can you do?')
  await fetch(await crm.authServer.browse(await host.waitFor(/\[crm\] login_needed (\S+)/)))
  await host.waitFor(/\[crm\] open/)
  await answer('crm__who-am-i', /ada by/)
  await answer('old__add', /added/)
  await answer('company__inner__greet', /hello/)
  await answer('files__list_allowed_directories', /Allowed directories/)
  await answer('everything__echo', /first/, { message: 'first' })

  // The answer of a question reaches a server that was killed meanwhile, which asks again.
  await answer('notes__add', /What should the note say\?/)
  await killIn(folder, join(folder, 'notes.mjs'))
  host.say('milk')
  await host.waitFor(/What should the note say\?/)
  host.say('milk')
  await host.waitFor(/Noted by \d+: milk/)
  // A server that was killed since the last call answers the next one.
  await call('files__list_allowed_directories')
  await killIn(folder, String(files))
  await host.waitFor(/Allowed directories/)
  await call('everything__echo', { message: 'second' })
  await killIn(folder, String(everything))
  await host.waitFor(/second|may have run/)
  const { port } = new URL(http.url)
  await host.prompt()
  await http.close()
  host.say('CALL greeter__greet')
  http = await serveHttp(greeter(), { port: Number(port) })
  await host.waitFor(/hello/)

  host.child.kill('SIGINT')
  expect(await host.ended).toEqual([0, null])
  await expect.poll(() => processesOf(folder)).toEqual([])
  await Promise.all([http.close(), old.close()])
}, 60_000)
