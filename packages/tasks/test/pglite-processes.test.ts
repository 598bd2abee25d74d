import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isJsonObject, type JsonObject } from '@x/schema'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { claimTasks } from '../src/contract/samples.ts'
import { pgliteEngine } from '../src/pglite.ts'

const program = fileURLToPath(new URL('../.results/programs/pglite-server.mjs', import.meta.url))
let folder: string

beforeAll(async () => {
  const entry = fileURLToPath(new URL('programs/pglite-server.ts', import.meta.url))
  // The bundle is in the package, so that it finds the packages that are not bundled.
  const external = ['pg', '@electric-sql/pglite']
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    external,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  })
})
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  return rm(program, { force: true })
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pglite-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Running {
  readonly child: ChildProcess
  /** The next line of the output. */
  next(): Promise<JsonObject>
}

const started: ChildProcess[] = []

function start(order: string): Running {
  const child = spawn(process.execPath, [program, join(folder, 'tasks'), join(folder, 'effects'), order], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, VITEST: undefined },
  })
  started.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    next: async () => {
      const { value, done } = await lines.next()
      const printed: unknown = done ? {} : JSON.parse(value)
      return isJsonObject(printed) ? printed : {}
    },
  }
}

test('a server over a folder that is killed during a task and started again records every step once', async () => {
  const first = start('begin')
  const printed = [await first.next(), await first.next()]
  const taskId = printed.find((line) => 'taskId' in line)?.['taskId']
  expect(printed).toContainEqual({ isWaiting: true })

  const engine = pgliteEngine(join(folder, 'tasks'))
  await expect(engine.get('a', 'someone')).rejects.toThrow(`is open in process ${first.child.pid} on`)
  await expect(claimTasks(engine, 1)).rejects.toThrow('postgresEngine is for several processes')
  await engine.close()

  const exited = once(first.child, 'exit')
  first.child.kill('SIGKILL')
  await exited
  const second = start(String(taskId))
  expect(await second.next()).toMatchObject({
    status: 'completed',
    result: { content: [{ text: 'one and two, done' }] },
  })
  if (second.child.exitCode === null) await once(second.child, 'exit')
  // The recorded step is not repeated. The step in which the process died is repeated.
  expect(await readFile(join(folder, 'effects'), 'utf8')).toBe('one\ntwo\ntwo\ntwo, done\n')
  expect(second.child.exitCode).toBe(0)
  await expect(access(join(folder, 'tasks.lock'))).rejects.toThrow('ENOENT')
}, 180_000)
