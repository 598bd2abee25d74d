import { expect, test } from 'vitest'
import { createNewTask, sampleOwner } from '../contract/samples.ts'
import { engineFactoryFor } from './engine-factory.ts'

test('"memory:" keeps tasks in this process', async () => {
  const engine = engineFactoryFor('memory:')(() => {})
  await engine.create(createNewTask('a'))
  expect((await engine.get('a', sampleOwner))?.status).toBe('working')
})

test.each(['postgres://127.0.0.1:1/none', 'postgresql://127.0.0.1:1/none'] as const)(
  'a URL such as %s creates an engine over PostgreSQL, which connects at its first use',
  async (store) => {
    const engine = engineFactoryFor(store)(() => {})
    expect(engine.leaseMs).toBe(10_000)
    await expect(engine.get('a', sampleOwner)).rejects.toThrow(/ECONNREFUSED|@\w+|install/)
    await engine.close()
  },
)

test('an engine that was never used closes at once', async () => {
  await expect(engineFactoryFor('pglite:./nowhere')(() => {}).close()).resolves.toBeUndefined()
})

test('an engine that was closed before its first use is not opened by a later call', async () => {
  const engine = engineFactoryFor('pglite:./nowhere')(() => {})
  await engine.close()
  await expect(engine.ping()).rejects.toThrow('The engine is closed and accepts no more calls')
})

test.each([
  ['mysql://root:topsecret@db', 'store has the scheme mysql:; write a URL that begins with "postgres://" or'],
  ['./tasks', 'store has no scheme; write "pglite:./tasks" for a folder, or a URL'],
  ['pglite:', 'store has the scheme pglite:; write'],
  ['', 'store has the scheme none; write'],
])('%s is not a store, and the error does not contain the address', (store, message) => {
  const open = () => engineFactoryFor(store)
  expect(open).toThrow(message)
  expect(open).not.toThrow('topsecret')
})
