import { node20, node22, node24, unsupportedNode } from '@tooling/node-versions'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { runQuietCheck } from '../src/checks.ts'
import { createRuntimeServer } from '../src/server.ts'
import { allPassed, checkServer } from './expected.ts'
import { checkOlderClient } from './older-client.ts'
import { programOf } from './programs.ts'
import { builtProgram, folder, runProgram, startProgram } from './start-program.ts'

const address = /"url":"([^"]+)"/
const bun = { program: programOf('bun'), args: ['--conditions=dist'] }
const deno = { program: programOf('deno'), args: ['run', '--allow-all', '--quiet', '--conditions=dist'] }
const nodes = [
  ['Node 20', { program: node20, args: ['--conditions=dist'] }],
  ['Node 22', { program: node22, args: ['--conditions=dist'] }],
  ['Node 24', { program: node24, args: ['--conditions=dist'] }],
] as const

const served = [
  ...nodes.map(([name, command]) => [name, command, 'serve-node'] as const),
  ['Bun, with Bun.serve', bun, 'serve-bun'],
  ['Bun, with node:http', bun, 'serve-node'],
  ['Deno, with Deno.serve', deno, 'serve-deno'],
  ['Deno, with node:http', deno, 'serve-node'],
] as const

test.each(nodes)('the program of %s has that version', async (name, { program }) => {
  expect(await runProgram({ program, args: ['--version'] })).toMatch(name.replace('Node ', 'v'))
})

// Several run at once: programs start slowly, and one of the tests waits for a timeout of Bun.
describe.concurrent('a server', () => {
  test.each(served)('on %s passes all checks', async (_, { program, args }, name) => {
    await using server = await startProgram({ program, args: [...args, builtProgram(name)] }, address)
    expect(await checkServer(server.announced)).toEqual(allPassed)
    expect(await checkOlderClient(server.announced, { keepsStreams: true })).toEqual({})
  })

  test.each(served)('on %s answers the call that runs when it is told to stop, and exits', async (_, command, name) => {
    const { program, args } = command
    await using server = await startProgram({ program, args: [...args, builtProgram(name)] }, address)
    await using client = createClient(connectHttp(server.announced, { retry: false }), {
      name: 'test',
      version: '1.0.0',
    })
    const call = client.callTool('rest', { milliseconds: 1500, id: 'a' })
    await expect.poll(() => client.callTool('state_of', { id: 'a' })).toMatchObject({ content: [{ text: 'running' }] })
    const ended = server.terminate()
    expect((await call).content).toMatchObject([{ text: 'rested' }])
    expect(await ended).toBe(0)
  })

  test('with Bun.serve keeps an idle call, although Bun closes idle connections', async () => {
    await using server = await startProgram(
      { program: bun.program, args: [...bun.args, builtProgram('serve-bun')] },
      address,
    )
    await using connection = connectHttp(server.announced, { retry: false })
    // The idle timeout of Bun is 10 seconds, and is checked every 4 seconds.
    expect(await runQuietCheck(connection, 14_000)).toBe('passed')
  })
})

test.concurrent.each([...nodes, ['Bun', bun], ['Deno', deno]] as const)(
  'a client on %s passes all checks',
  async (_, { program, args }) => {
    await using http = await serveHttp(createRuntimeServer())
    const printed = await runProgram({ program, args: [...args, builtProgram('client'), http.url] })
    expect(JSON.parse(printed)).toEqual(allPassed)
  },
)

test.concurrent.each([builtProgram('serve-node'), builtProgram('client'), `${folder}../../packages/cli/dist/mcpx.js`])(
  'Node 18 ends %s with the version that is needed',
  async (program) => {
    await expect(runProgram({ program: unsupportedNode, args: ['--conditions=dist', program] })).rejects.toThrow(
      'The @x packages need Node 20.19 or later, and this is Node 18.',
    )
  },
)
