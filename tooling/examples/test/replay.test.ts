import type { JsonValue } from '@x/schema'
import { createServer, type Tool } from '@x/server'
import { type Answers, type ServerKit, testClient } from '@x/testing'
import { expect, test } from 'vitest'
import * as programs from '../src/replay.ts'

/** Creates a tracker that records its calls. */
function createTracker(): programs.Tracker & { readonly done: string[] } {
  const done: string[] = []
  let checks = 0
  return {
    done,
    read: async (id) => (done.push(`read ${id}`), { title: 'Crash on start' }),
    resolve: async (id, how) => void done.push(`resolve ${id} ${how}`),
    lock: async (id) => (done.push(`lock ${id}`), { release: async () => void done.push(`release ${id}`) }),
    isPaid: async () => ++checks > 1,
  }
}

interface CallOptions {
  readonly answers?: Answers
  /** False for handlers with effects outside steps, because strict replay runs a handler again at each await. */
  readonly strictReplay?: boolean
}

/** Calls a tool with each round at another instance, and returns its text. */
async function call(tool: Tool, args: Record<string, JsonValue>, options: CallOptions = {}): Promise<string> {
  const definition = { name: 'guide', version: '1.0.0', tools: [tool] }
  const createInstance = (kit: ServerKit) => createServer({ ...definition, ...kit })
  await using client = testClient(createInstance, { ...options, restartBetweenRounds: true })
  const { content } = await client.callTool(tool.name, args)
  expect([client.observations.warnings, client.listUnusedAnswers()]).toEqual([[], []])
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

test('a handler reads once and saves once, over three rounds', async () => {
  const tracker = createTracker()
  const answers = { resolution: { resolution: 'Duplicate' }, original: { id: 4301 } }
  expect(await call(programs.resolveBug(tracker), { id: 4522 }, { answers })).toBe('#4522 is Duplicate of #4301')
  expect(tracker.done).toEqual(['read 4522', 'resolve 4522 Duplicate of #4301'])
})

test('a declined question ends the call, and nothing is saved', async () => {
  const tracker = createTracker()
  expect(await call(programs.resolveBug(tracker), { id: 1 }, { answers: { resolution: 'decline' } })).toBe(
    'The user declined to answer the question "resolution"',
  )
  expect(tracker.done).toEqual(['read 1'])
})

test('every run releases its lock, and a suspension is not reported as a failure', async () => {
  const tracker = createTracker()
  const answers = { resolution: { resolution: 'Fixed' } }
  expect(await call(programs.resolveLocked(tracker), { id: 7 }, { answers, strictReplay: false })).toBe('Done')
  expect(tracker.done).toEqual(['lock 7', 'release 7', 'lock 7', 'resolve 7 Fixed', 'release 7'])
})

test('the user is asked to pay until the payment is done', async () => {
  expect(await call(programs.pay(createTracker()), {}, { answers: { payment: 'accept' } })).toBe('Paid, thank you')
})

test('a handler that controls its rounds uses an answer only after its question', async () => {
  const answers = { name: { name: 'Ada' } }
  expect(await call(programs.askName, {}, { answers })).toBe(
    'The client sent {"action":"accept","content":{"name":"Ada"}}',
  )
})
