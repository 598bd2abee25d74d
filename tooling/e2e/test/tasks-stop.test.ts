import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { startRedis } from '@tooling/real-servers/redis'
import { describeNeeding } from '@tooling/vitest/needs'
import { isJsonObject } from '@x/schema'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { type ProcessFleet, startProcessFleet } from './process-fleet.ts'

let postgres: RealPostgres
let program: ChildProgram
let folder: string

beforeAll(async () => {
  postgres = await startPostgres()
  program = await bundleProgram(new URL('./programs/tasks-stopping.ts', import.meta.url))
  folder = await mkdtemp(join(tmpdir(), 'tasks-stop-'))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
  await postgres?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

async function readLines(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').slice(0, -1)
}

/** Starts a task and resolves to its id after its third step. */
async function startCounting(fleet: ProcessFleet, effects: string): Promise<string> {
  const { result } = await fleet.ask('tools/call', { name: 'count' })
  await expect.poll(async () => (await readLines(effects)).length).toBeGreaterThanOrEqual(3)
  return isJsonObject(result) ? String(result['taskId']) : ''
}

test('a server that runs a task in memory exits after SIGTERM', async () => {
  const effects = join(folder, 'memory')
  await using fleet = await startProcessFleet(program.path, 1, { STORE: 'memory:', EFFECTS: effects })
  await startCounting(fleet, effects)
  expect(await fleet.stop(0)).toBe(0)
  expect((await readLines(effects)).length).toBeLessThan(30)
})

test('a server that runs a stored task exits after SIGTERM, and another instance continues it at the next step, or undoes it when it is cancelled', async () => {
  const effects = join(folder, 'postgres')
  const environment = { STORE: postgres.url, EFFECTS: effects }
  await using fleet = await startProcessFleet(program.path, 1, environment)
  const taskId = await startCounting(fleet, effects)
  expect(await fleet.stop(0)).toBe(0)
  const before = (await readLines(effects)).length
  expect(before).toBeLessThan(30)

  await using next = await startProcessFleet(program.path, 1, environment)
  const read = async () => (await next.ask('tasks/get', { taskId }))['result']
  await expect.poll(read).not.toMatchObject({ status: 'working' })
  const counted = { content: [{ type: 'text', text: 'counted' }] }
  expect(await read()).toMatchObject({ status: 'completed', result: counted })
  // The stopped instance finished its step, so no step was done twice, and it undid nothing.
  expect(await readLines(effects)).toEqual(Array.from({ length: 30 }, (_, number) => `${number}`))

  const cancelled = await startCounting(next, effects)
  await expect.poll(async () => (await readLines(effects)).length).toBeGreaterThan(30)
  await next.ask('tasks/cancel', { taskId: cancelled })
  await expect.poll(async () => (await readLines(effects)).at(-1)).toBe('undone')
})

const initialize = {
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'host', version: '1.0.0' } },
  }),
}

/** Stops a server after the database of all its parts was killed, none of which it closes. */
async function stopWithout({ url, kill }: { readonly url: string; kill(): Promise<void> }): Promise<void> {
  await using parts = await bundleProgram(new URL('./programs/unclosed-parts.ts', import.meta.url))
  const child = spawn(process.execPath, [parts.path, url], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (text.includes('still alive')) child.kill('SIGKILL')
  })
  try {
    const [address] = await once(child.stdout, 'data')
    // An older client, so that the instance listens on the bus and writes to the store.
    expect((await fetch(String(address).trim(), initialize)).status).toBe(200)
    await kill()
    await expect.poll(() => printed).toContain('BusError')
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
  }
}

describeNeeding('redis', 'a server that closes neither store, bus nor engine', (redis) => {
  test.each([
    ['Redis', () => startRedis(redis)],
    ['PostgreSQL', startPostgres],
  ] as const)('exits after SIGTERM while %s is down [ROB-001]', async (_, startDatabase) => {
    const database = await startDatabase()
    await stopWithout(database).finally(() => database.close())
  })
})
