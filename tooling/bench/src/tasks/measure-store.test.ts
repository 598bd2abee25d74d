import { expect, test } from 'vitest'
import { measureStore, type Plan } from './measure-store.ts'
import { memoryTaskStore } from './stores.ts'

const smallest: Plan = {
  rounds: 2,
  load: { count: 5, clients: 2 },
  concurrencies: [2],
  latencies: [{ count: 2, clients: 1 }],
  trips: { calls: 2, milliseconds: 20, pollIntervalMs: 5 },
}

test('the smallest plan over memory runs every task once, and yields a line for each measurement', async () => {
  const lines: string[] = []
  for await (const line of measureStore(memoryTaskStore(), smallest)) lines.push(line)
  expect(
    lines.map((line) =>
      line
        .replaceAll(/-?\d[\d,.]*/g, '#')
        .replaceAll(/ {2,}/g, '  ')
        .trim(),
    ),
  ).toEqual([
    'created and done, # at once  tasks  #/s  # us CPU',
    'created and done, # at once  tasks, one user  #/s  # us CPU',
    'sent to start, one at a time  tasks  p# # ms  p# # ms',
    'answered to start, one at a time  tasks  p# # ms  p# # ms',
    'answer to resumption, one at a time  tasks  p# # ms  p# # ms',
    'one call, to its result  plain call  # ms  # us CPU  # x (# to #)  # x its CPU',
    'one call, to its result  task, listening  # ms  # us CPU  # x (# to #)  # x its CPU',
    'one call, to its result  task, polling every # ms  # ms  # us CPU  # x (# to #)  # x its CPU',
    'one call, to its result  task, polling every # ms  # ms  # us CPU  # x (# to #)  # x its CPU',
  ])
})
