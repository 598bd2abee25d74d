import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '@tooling/real-servers/free-port'
import { startAuthServer } from '@tooling/auth-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  bundleHost,
  killIn,
  removeAtCall,
  type RunningHost,
  startHost,
  startPeer,
  startTypedHost,
} from './host-program.ts'
import { everything, filesystem } from './older-server-peers.ts'
import { processesOf } from './process-list.ts'

let folder = ''
beforeAll(async () => {
  folder = await bundleHost()
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** The call that kills each server of the host, and what the host answers. */
const calls: readonly (readonly [server: string, call: string, answer: RegExp])[] = [
  ['notes', 'notes__add', /What should the note say\?/],
  ['everything', 'everything__echo {"message":"again"}', /Echo: again/],
  ['files', 'files__list_allowed_directories', /Allowed directories/],
  ['greeter', 'greeter__greet', /hello/],
  ['greeter', 'greeter__add', /may have run/],
  ['old', 'old__add', /added/],
  ['crm', 'crm__who-am-i', /you are ada/],
  ['company', 'company__inner__greet', /hello/],
]

test('the host of the guide outlives each of seven servers that is killed by a call, and leaves nothing open when a signal ends it', async () => {
  const callFileOf = (server: string): string => join(folder, `${server}.call`)
  const issuedFor = await findFreePort()
  await using authServer = await startAuthServer({
    resources: [{ resource: `http://127.0.0.1:${issuedFor}/mcp`, scopes: ['items:read'] }],
  })
  const serve = async (kind: string, port?: number) =>
    startPeer(
      folder,
      { kind, port: port ?? (await findFreePort()), issuer: authServer.issuer },
      { CALL_FILE: callFileOf(kind) },
    )
  await using greeter = await serve('greeter')
  await using old = await serve('old')
  await using crm = await serve('crm', issuedFor)
  await using company = await serve('company')
  const overStdio = (server: string, ...args: readonly string[]) => ({
    command: process.execPath,
    args: ['--import', removeAtCall, ...args],
    env: { CALL_FILE: callFileOf(server) },
    cwd: '${workspaceFolder}',
  })
  const mcpServers = {
    notes: overStdio('notes', '${workspaceFolder}/notes.mjs'),
    everything: overStdio('everything', everything, 'stdio', folder),
    files: overStdio('files', filesystem, '${workspaceFolder}'),
    greeter: { type: 'http', url: greeter.url },
    old: { url: old.url },
    crm: { url: crm.url },
    company: { url: company.url },
  }
  const file = join(folder, 'mcp.json')
  await writeFile(file, JSON.stringify({ mcpServers }))
  using host = startHost(folder, file)

  await host.prompt()
  host.say('What can you do?')
  await fetch(await authServer.browse(await host.waitFor(/\[crm\] login_needed (\S+)/)))
  await host.waitFor(/\[crm\] open/)
  for (const [server, call, answer] of calls.toReversed()) {
    // A server that the call before has killed starts again, and the host meets it again.
    await expect.poll(() => toolsOf(host)).toContain(call.split(' ')[0])
    await writeFile(callFileOf(server), 'SIGKILL')
    await host.prompt()
    host.say(`CALL ${call}`)
    await host.waitFor(answer)
    expect(existsSync(callFileOf(server)), server).toBe(false)
  }
  // The answer of a question reaches a server that was killed meanwhile, which asks again.
  await killIn(folder, join(folder, 'notes.mjs'))
  host.say('milk')
  await host.waitFor(/What should the note say\?/)
  host.say('milk')
  await host.waitFor(/Noted by \d+: milk/)

  await writeFile(callFileOf('everything'), '')
  await host.prompt()
  host.say('CALL everything__trigger-long-running-operation {"duration":60,"steps":2}')
  await expect.poll(() => existsSync(callFileOf('everything'))).toBe(false)
  await expectNothingLeft(host)
})

test('the host of the guide in TypeScript makes one call, asks its user, and ends with its servers', async () => {
  const file = join(folder, 'typed.json')
  const notes = { command: process.execPath, args: ['notes.mjs'], cwd: '${workspaceFolder}' }
  await writeFile(file, JSON.stringify({ mcpServers: { notes } }))
  using host = startTypedHost(folder, [file, 'notes__add'])
  await host.waitFor(/notes__add asks: What should the note say\? Text: /)
  host.say('milk')
  await host.waitFor(/^Noted by \d+: milk$/m)
  expect(await host.ended).toEqual([0, null])
  using withoutUser = startTypedHost(folder, [file, 'notes__add'])
  withoutUser.child.stdin?.end()
  await withoutUser.waitFor(/^The user dismissed the question "text"$/m)
  expect(await withoutUser.ended).toEqual([0, null])
})

/** The names of the tools that the host has now. */
async function toolsOf(host: RunningHost): Promise<readonly string[]> {
  await host.prompt()
  host.say('What can you do?')
  return (await host.waitFor(/^\S+__\S+ .*$/m)).split(' ')
}

async function expectNothingLeft(host: RunningHost): Promise<void> {
  host.child.kill('SIGTERM')
  // The standard streams alone.
  expect(JSON.parse(await host.waitFor(/open: (.*) end/))).toEqual(['PipeWrap', 'PipeWrap', 'PipeWrap'])
  expect(await host.ended).toEqual([0, null])
  const peers = await processesOf(join(folder, 'peer.mjs'))
  await expect.poll(() => processesOf(folder)).toEqual(peers)
}
