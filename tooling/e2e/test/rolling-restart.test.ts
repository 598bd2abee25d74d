import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { startBalancer, startInstance, stopInstances } from './balanced-processes.ts'
import { bundleProgram } from './child-program.ts'

const host = { name: 'e2e-client', version: '1.0.0' }

test('all instances are restarted in turn under constant load: no call is lost, and no step is done twice', async () => {
  await using program = await bundleProgram(new URL('./programs/shedding-instance.ts', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'rolling-'))
  // A call lasts longer than the notice of a stop.
  const files = { EFFECTS: join(folder, 'effects'), SHEDS: join(folder, 'sheds'), STEPS: '60' }
  const start = () => startInstance(program.path, files)
  const instances = await Promise.all([start(), start(), start()])
  const balancer = await startBalancer(instances)
  const connection = connectHttp(balancer.url)
  const client = createClient(connection, host)

  let isOver = false
  const results: string[] = []
  const callRepeatedly = async (): Promise<void> => {
    while (!isOver) results.push(textOf(await client.callTool('work')))
  }
  const load = Promise.all(Array.from({ length: 12 }, callRepeatedly))
  for (const index of [0, 1, 2]) {
    const old = instances[index]
    const before = results.length
    old?.child.kill('SIGTERM')
    expect(await old?.exited).toEqual([0, null])
    instances[index] = await start()
    // The next instance stops only after further calls have ended.
    await expect.poll(() => results.length).toBeGreaterThan(before + 12)
  }
  isOver = true
  await load
  const readLines = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n')
  const done = await readLines(files.EFFECTS)
  expect(new Set(results).size).toBe(results.length)
  expect(done).toHaveLength(results.length * 60)
  expect(new Set(done).size).toBe(done.length)
  expect(await readLines(files.SHEDS)).toContain('stopping')

  await connection.close()
  balancer.stop()
  await stopInstances(instances)
  await rm(folder, { recursive: true })
})
