import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { builtProgram } from '@tooling/vitest/built-program'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { expect, test } from 'vitest'

// The application runs as it was built, in processes of its own.
const start = builtProgram(join(import.meta.dirname, '../dist/main.js'), /^Serving on (\S+) until/m)

test('the walk-through sees every step happen at both instances, and ends with 0', async () => {
  const { code, output } = await start(['--once']).ended
  expect(output).toBe(stripVTControlCharacters(output))
  const text = output.replace(/\s+/g, ' ')
  for (const landmark of [
    /work-items: [1-9]\d* tools, such as work-items__list_work_items/,
    /everything: [1-9]\d* tools, such as everything__\w+/,
    /files: [1-9]\d* tools, such as files__\w+/,
    /orders: 2 tools, such as orders__\w+/,
    /instance (\d): question, "Please provide [^"]+" instance (?!\1)\d: state without a question instance \1: result/,
    /instance 1: work-items fails: Upstream "work-items" gave no answer/,
    /instance 2: work-items fails: Upstream "work-items" gave no answer/,
    /instance 1: the others succeed: Echo: hello, The release is on Thursday\./,
    /instance 2: the others succeed: Echo: hello, The release is on Thursday\./,
    /instance (\d): question, "Delete an order: DELETE \/orders\/7" instance (?!\1)\d: result result: .*deleted.*7/,
    /work-items was started again, and both instances serve it/,
    /everything__echo is not listed, and a call fails: Unknown tool "everything__echo"/,
    /accepted: Echoes back the input string\. Before you call it,/,
    /All 5 steps went as expected\./,
  ])
    expect(text).toMatch(landmark)
  expect(code).toBe(0)
}, 180_000)

test('it serves hosts of all revisions at one address until a signal stops it, and leaves no process', async () => {
  const run = start(['--port', '0'])
  const [, url = ''] = await run.greeting
  for (const revision of ['2026-07-28', 'older'] as const) {
    const connection = connectAny(url, { revision })
    const client = createClient(connection, { name: 'host', version: '1.0.0' })
    const { content } = await client.callTool('everything__echo', { message: 'hello' })
    const isOlder = connection.peer?.revision !== '2026-07-28'
    expect([isOlder, content]).toEqual([revision === 'older', [{ type: 'text', text: 'Echo: hello' }]])
    await connection.close()
  }
  const processes = descendantsOf(run.child.pid)
  // Two instances with two upstreams over stdio each, and the server for work items with its emulator and database.
  expect(processes.length).toBeGreaterThanOrEqual(9)
  run.child.kill('SIGTERM')
  expect((await run.ended).code).toBe(0)
  for (const pid of processes) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
}, 180_000)

test.each([
  [['--help'], 0, 'Usage: npm run start:gateway'],
  [['--port', 'x'], 1, 'Cannot start: --port is "x"; it should be a whole number from 0 to 65535'],
  [['--instances', '3'], 1, "Cannot start: Unknown option '--instances'"],
])('%j ends with %i and says what there is to know', async (args, code, words) => {
  const ended = await start(args).ended
  expect([ended.code, ended.output]).toEqual([code, expect.stringContaining(words)])
})

/** The ids of the processes that a process has started, and of those that these have started. */
function descendantsOf(parent = 0): number[] {
  const children = readdirSync('/proc').filter((id) => /^\d+$/.test(id) && parentOf(id) === parent)
  return children.flatMap((id) => [Number(id), ...descendantsOf(Number(id))])
}

function parentOf(id: string): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1])
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}
