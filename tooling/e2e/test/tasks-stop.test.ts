import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
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
  while ((await readLines(effects)).length < 3) await setTimeout(20)
  return isJsonObject(result) ? String(result['taskId']) : ''
}

test('a server that runs a task in memory exits after SIGTERM', async () => {
  const effects = join(folder, 'memory')
  await using fleet = await startProcessFleet(program.path, 1, { STORE: 'memory:', EFFECTS: effects })
  await startCounting(fleet, effects)
  expect(await fleet.stop(0)).toBe(0)
  expect((await readLines(effects)).length).toBeLessThan(30)
})

test('a server that runs a stored task exits after SIGTERM, and another instance continues it at the next step', async () => {
  const effects = join(folder, 'postgres')
  const environment = { STORE: postgres.url, EFFECTS: effects }
  await using fleet = await startProcessFleet(program.path, 1, environment)
  const taskId = await startCounting(fleet, effects)
  expect(await fleet.stop(0)).toBe(0)
  const before = (await readLines(effects)).length
  expect(before).toBeLessThan(30)

  await using next = await startProcessFleet(program.path, 1, environment)
  const read = async () => (await next.ask('tasks/get', { taskId }))['result']
  let task = await read()
  while (isJsonObject(task) && task['status'] === 'working') {
    await setTimeout(100)
    task = await read()
  }
  expect(task).toMatchObject({ status: 'completed', result: { content: [{ type: 'text', text: 'counted' }] } })
  // The stopped instance finished its step, so no step was done twice.
  expect(await readLines(effects)).toEqual(Array.from({ length: 30 }, (_, number) => `${number}`))
})
