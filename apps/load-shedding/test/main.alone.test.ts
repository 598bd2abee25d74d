import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { builtProgram } from '@tooling/vitest/built-program'
import { expect, test } from 'vitest'

// The tests run the built application in child processes.
const start = builtProgram(join(import.meta.dirname, '../dist/main.js'), /Control page: (\S+)\s/)

test('a trial overloads an instance, restarts every one, loses no call, and exits with 0', async () => {
  const { code, output } = await start(['--once']).ended
  for (const text of [
    '3 instances behind cluster, shedding on',
    'instance 1 is overloaded',
    'every instance is restarted in turn',
    '0 calls lost, 0 of them in restarts',
    'Passed: no call was lost, and no work was repeated.',
  ]) {
    expect(output).toContain(text)
  }
  expect(output).toMatch(/[1-9]\d* calls completed, 0 with a wrong result, [1-9]\d* hand-offs/)
  expect(output).toMatch(/^0 of \d+ chunks of work repeated$/m)
  expect(output).toBe(stripVTControlCharacters(output))
  expect(code).toBe(0)
})

test('a signal stops the application and all of its processes', async () => {
  const run = start(['--port', '0', '--mcp-port', '0', '--instances', '2'])
  const [, page = ''] = await run.greeting
  const { hash } = new URL(page)
  const headers = { authorization: `Bearer ${hash.slice(1)}` }
  const events = await fetch(new URL('/api/events', page), { headers })
  let text = ''
  for await (const bytes of events.body ?? []) {
    text += Buffer.from(bytes).toString('utf8')
    if (/"pid":[1-9]\d*.*"pid":[1-9]\d*/.test(text)) break
  }
  const instances = Array.from(text.matchAll(/"pid":([1-9]\d*)/g), ([, pid]) => Number(pid))
  expect(new Set(instances).size).toBe(2)
  run.child.kill('SIGTERM')
  expect((await run.ended).code).toBe(0)
  for (const pid of instances) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
})

test.each([
  [['--help'], 0, 'Usage: npm run start:shedding'],
  [['--instances', '9'], 1, 'Cannot start: --instances is "9"; it should be a whole number from 2 to 8'],
])('%j exits with %i and prints the expected text', async (args, code, text) => {
  const ended = await start(args).ended
  expect([ended.code, ended.output]).toEqual([code, expect.stringContaining(text)])
})

test('a port in use is rejected with a remedy', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = Object(server.address())
  const { code, output } = await start(['--port', '0', '--mcp-port', `${port}`, '--instances', '2']).ended
  expect(output).toContain(`Cannot start: port ${port} is taken by another program`)
  expect(code).toBe(1)
})
