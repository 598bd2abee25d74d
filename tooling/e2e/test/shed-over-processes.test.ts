import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { startBalancer, startInstance, stopInstances } from './balanced-processes.ts'
import { bundleProgram } from './child-program.ts'

test('a call that is shed five times over three processes returns the same bytes as one that stays at one process', async () => {
  await using program = await bundleProgram(new URL('./programs/shedding-instance.ts', import.meta.url))
  const folder = await mkdtemp(join(tmpdir(), 'shed-'))
  const readLines = async (name: string) => (await readFile(join(folder, name), 'utf8')).trim().split('\n')
  const callOver = async (count: number, files: NodeJS.ProcessEnv): Promise<string> => {
    const instances = await Promise.all(Array.from({ length: count }, () => startInstance(program.path, files)))
    const balancer = await startBalancer(instances)
    await using connection = connectHttp(balancer.url)
    try {
      const client = createClient(connection, { name: 'e2e-client', version: '1.0.0' })
      return JSON.stringify(await client.callTool('render'))
    } finally {
      balancer.stop()
      await stopInstances(instances)
    }
  }
  const unshed = await callOver(1, { EFFECTS: join(folder, 'unshed'), SHEDS: join(folder, 'none') })
  const shed = await callOver(3, { EFFECTS: join(folder, 'shed'), SHEDS: join(folder, 'sheds'), ALWAYS: 'yes' })
  expect(shed).toBe(unshed)
  expect(await readLines('sheds')).toEqual(Array.from({ length: 5 }, () => 'policy'))
  const steps = (await readLines('shed')).map((line) => line.split(' '))
  expect(steps.map(([, step]) => step)).toEqual(Array.from({ length: 10 }, (_, step) => String(step)))
  expect(new Set(steps.map(([pid]) => pid)).size).toBe(3)
  expect((await readLines('unshed')).map((line) => line.split(' ')[1])).toEqual(steps.map(([, step]) => step))
  await rm(folder, { recursive: true })
})
