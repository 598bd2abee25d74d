import { findFreePort } from '@tooling/real-servers/free-port'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { postgresEngine } from '@x/tasks/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'

let server: RealPostgres
let store = ''
beforeAll(async () => {
  server = await startPostgres()
  store = server.url
  // A lease that outlives the tests.
  const engine = postgresEngine(store, { leaseMs: 3_600_000 })
  const task = { owner: 'ada', caller: 'ada', payload: {}, lifetimeMs: null, callerLimit: 10 }
  await engine.create({ ...task, id: 'copied', tool: 'copy' })
  await engine.create({ ...task, id: 'waiting', tool: 'paint', statusMessage: 'Mixes \u001B[31mred\u001B[0m' })
  await engine.create({ ...task, id: 'running', tool: 'paint' })
  const { tasks } = await engine.claim({ maxClaims: 3, worker: 'host/7' })
  for (const claimed of tasks) {
    const outcome = { status: 'completed', result: { content: [{ type: 'text', text: 'copied' }] } } as const
    if (claimed.id === 'copied') await engine.finish(claimed, { outcome, lifetimeMs: null })
    const requests = { colour: { method: 'elicitation/create' } }
    if (claimed.id === 'waiting')
      await engine.suspend(claimed, { requests, entries: [], hasProgressed: false, lifetimeMs: null })
  }
  await engine.close()
})
afterAll(() => server.close())

const tasksCommand = (...args: readonly string[]) => runCommand(['tasks', ...args, '--store', store])

describe('tasks list', () => {
  test('writes the tasks, the newest first, without the control characters of their messages', async () => {
    const { code, out } = await tasksCommand('list')
    const [head, ...rows] = out.trim().split('\n')
    expect([code, head?.split(/ {2,}/)]).toEqual([
      0,
      ['ID', 'TOOL', 'STATUS', 'CREATED', 'ATTEMPT', 'FAILURES', 'DUE', 'WORKER', 'OWNER', 'MESSAGE'],
    ])
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ['running', 'paint', 'working (running)'],
      ['waiting', 'paint', 'input_required (waiting)'],
      ['copied', 'copy', 'completed'],
    ])
    expect(out).not.toContain('\u001B')
  })

  test('filters as its options say', async () => {
    const idsOf = async (...args: readonly string[]): Promise<unknown> => {
      const { tasks } = Object((await tasksCommand('list', '--json', ...args)).json())
      return tasks.map(({ id }: { id: string }) => id)
    }
    expect(await idsOf('--status', 'completed')).toEqual(['copied'])
    expect(await idsOf('--tool', 'paint')).toEqual(['running', 'waiting'])
    expect(await idsOf('--owner', 'eve')).toEqual([])
    expect(await idsOf('--older-than', '1d')).toEqual([])
    expect(await idsOf('--min-failures', '1')).toEqual([])
  })

  test('continues at a cursor', async () => {
    const first = await tasksCommand('list', '--limit', '2', '--json')
    const { nextCursor } = Object(first.json())
    const second = await tasksCommand('list', '--cursor', nextCursor)
    expect(second.out).toMatch(/^copied/m)
    expect(second.out).not.toMatch(/^running/m)
    expect((await tasksCommand('list', '--limit', '2')).err).toContain('--cursor ')
  })

  test('fits into the width of the terminal', async () => {
    const { out } = await runCommand(['tasks', 'list', '--store', store], { columns: 60, env: { NO_COLOR: '1' } })
    const lengths = out.split('\n').map((line) => line.length)
    expect(Math.max(...lengths)).toBe(60)
  })
})

test('tasks show writes the requests of a task, and its result', async () => {
  expect(Object((await tasksCommand('show', 'waiting', '--json')).json())).toMatchObject({
    id: 'waiting',
    status: 'input_required',
    requests: { colour: { method: 'elicitation/create' } },
  })
  const { out } = await tasksCommand('show', 'copied')
  expect(out).toMatch(/^status +completed$/m)
  expect(out).toMatch(/^createdAt +\d{4}-\d\d-\d\dT/m)
  expect(out).toContain('"text": "copied"')
})

test('tasks counts counts the open tasks, and takes the store from the environment', async () => {
  process.env['MCPX_STORE'] = store
  try {
    const counted = await runCommand(['tasks', 'counts', '--json'])
    expect(Object(counted.json()).counts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ tool: 'paint', state: 'running', count: 1 }),
        expect.objectContaining({ tool: 'paint', state: 'waiting', count: 1 }),
      ]),
    )
  } finally {
    delete process.env['MCPX_STORE']
  }
})

describe('the exit code says if a task was changed', () => {
  test.each([
    ['revoke', 'running', 0, 'is ready to be claimed by any worker'],
    ['revoke', 'waiting', 1, 'waits for its client'],
    ['revoke', 'copied', 1, 'had ended before'],
    ['cancel', 'waiting', 0, 'is cancelled'],
    ['cancel', 'copied', 1, 'had ended before'],
    ['cancel', 'absent', 1, 'does not exist'],
  ] as const)('tasks %s %s: %i', async (command, id, expectedCode, text) => {
    const { code, out } = await tasksCommand(command, id)
    expect([code, out]).toEqual([expectedCode, expect.stringContaining(`The task ${id} ${text}`)])
  })

  test('tasks show absent: 1', async () => {
    expect(await tasksCommand('show', 'absent')).toMatchObject({ code: 1, err: expect.stringContaining('absent does') })
  })
})

describe('an error that the operator can mend has no stack trace', () => {
  test('a Redis that may delete tasks', async () => {
    const port = String(await findFreePort())
    const redis = await startRedis('redis-server', ['--port', port, '--maxmemory-policy', 'allkeys-lru'])
    const failed = await runCommand(['tasks', 'counts', '--store', `redis://127.0.0.1:${port}`])
    await redis.close()
    expect(failed).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^mcpx: Redis has the maxmemory-policy allkeys-lru, so it may delete tasks: .+\n$/),
    })
  })

  test('a cursor that no page ended with', async () => {
    expect(await tasksCommand('list', '--cursor', 'none')).toMatchObject({
      code: 2,
      err: 'mcpx: cursor is not the nextCursor of a page\n',
    })
  })
})
