import type { TaskEngine } from '@x/tasks'
import { memoryEngine } from '@x/tasks/memory'
import { expect, test } from 'vitest'
import { openTaskRunner } from './task-runner.ts'

test('a task with a wrong stored result ends the benchmark', async () => {
  const inner = memoryEngine()
  const lossy: TaskEngine = {
    ...inner,
    finish: (lease, end) => inner.finish(lease, { ...end, outcome: { status: 'completed', result: { content: [] } } }),
  }
  const runner = openTaskRunner(() => lossy, { concurrency: 1, users: 1 })
  await runner.create('one')
  await runner.ended('one')
  await expect(runner.check(['one'])).rejects.toThrow('the result of one is []')
  await runner.close()
})

test('an error of the engine rejects the wait for its tasks', async () => {
  const inner = memoryEngine()
  const broken: TaskEngine = { ...inner, claim: () => Promise.reject(new Error('no database')) }
  const runner = openTaskRunner(() => broken, { concurrency: 1, users: 1 })
  await runner.create('one')
  await expect(runner.ended('one')).rejects.toThrow('no database')
  await expect(runner.check([])).rejects.toThrow('the server logged an error')
  await runner.close()
})

test('work that was not done, or was done twice, ends the benchmark', async () => {
  const runner = openTaskRunner(() => memoryEngine(), { concurrency: 1, users: 1 })
  await runner.create('one')
  await runner.create('one')
  await runner.ended('one')
  await expect(runner.check(['none'])).rejects.toThrow('the work of none was done 0 times')
  await expect(runner.check(['one'])).rejects.toThrow('the work of one was done 2 times')
  await runner.close()
})
