import type { JsonValue } from '@x/schema'
import { createServer, sealedState, type Tool } from '@x/server'
import { type Answers, type ServerKit, testClient } from '@x/testing'
import { expect, test } from 'vitest'
import * as programs from '../src/replay.ts'

const keys = ['00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff']

/** Counts what a handler does to the outside. */
function createTracker(): programs.Tracker & { readonly done: string[] } {
  const done: string[] = []
  let asked = 0
  return {
    done,
    read: async (id) => (done.push(`read ${id}`), { title: 'Crash on start' }),
    resolve: async (id, how) => (done.push(`resolve ${id} ${how}`), { revision: 8 }),
    lock: async (id) => (done.push(`lock ${id}`), { release: async () => void done.push(`release ${id}`) }),
    reopen: async (id) => void done.push(`reopen ${id}`),
    isPaid: async () => ++asked > 1,
  }
}

interface CallOptions {
  readonly answers?: Answers
  /** False for handlers that do something outside of steps: they run again at each of their awaits otherwise. */
  readonly strictReplay?: boolean
}

/** Calls a tool, each round at another instance, and returns its text. */
async function call(tool: Tool, args: Record<string, JsonValue>, options: CallOptions = {}): Promise<string> {
  const definition = { name: 'guide', version: '1.0.0', tools: [tool] }
  const createInstance = (kit: ServerKit) => createServer({ ...definition, ...kit })
  await using client = testClient(createInstance, { ...options, restartBetweenRounds: true })
  const { content } = await client.callTool(tool.name, args)
  expect([client.observations.warnings, client.listUnusedAnswers()]).toEqual([[], []])
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

test('a straight function reads once and saves once, over three rounds', async () => {
  const tracker = createTracker()
  const answers = { resolution: { resolution: 'Duplicate' }, original: { id: 4301 } }
  expect(await call(programs.resolveBug(tracker), { id: 4522 }, { answers })).toBe(
    '#4522 is Duplicate of #4301 (revision 8)',
  )
  expect(tracker.done).toEqual(['read 4522', 'resolve 4522 Duplicate of #4301'])
})

test('a declined question ends the call, and nothing is saved', async () => {
  const tracker = createTracker()
  expect(await call(programs.resolveBug(tracker), { id: 1 }, { answers: { resolution: 'decline' } })).toBe(
    'The user declined to answer the question "resolution"',
  )
  expect(tracker.done).toEqual(['read 1'])
})

test('two questions go out together', async () => {
  const answers = { when: { day: '2026-12-24' }, table: { guests: 4 } }
  expect(await call(programs.book, {}, { answers })).toBe('A table for 4 on 2026-12-24')
})

test('what is cleaned up in every run, and what is made up for only after a failure', async () => {
  const tracker = createTracker()
  const answers = { resolution: { resolution: 'Fixed' } }
  expect(await call(programs.resolveLocked(tracker), { id: 7 }, { answers, strictReplay: false })).toBe('Done')
  expect(tracker.done).toEqual(['lock 7', 'release 7', 'lock 7', 'resolve 7 Fixed', 'release 7'])
})

test('a loop continues from its checkpoint', async () => {
  const pages: number[] = []
  const tool = programs.summarize(async (page) => `page ${pages.push(page) && page}`)
  expect(await call(tool, {}, { answers: { heading: { heading: 'All' } }, strictReplay: false })).toContain(
    '# All\npage 0\n',
  )
  expect(pages).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('a payment is asked for until the server knows of it', async () => {
  expect(await call(programs.pay(createTracker()), {}, { answers: { payment: 'accept' } })).toBe('Paid, thank you')
})

test('the whole server answers', async () => {
  await using client = testClient(programs.serve(createTracker(), sealedState({ keys })))
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['resolve_bug'])
})
