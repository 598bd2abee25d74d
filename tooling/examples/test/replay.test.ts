import { createClient, type ElicitAnswer } from '@x/client'
import { createServer, type ServerWarning, sealedState, type Tool } from '@x/server'
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

type Contents = { readonly [message: string]: ElicitAnswer['content'] }

/** Calls a tool of two instances that take turns, and answers each question by its message. */
async function call(tool: Tool, args: Record<string, unknown>, contents: Contents): Promise<string> {
  const warnings: ServerWarning[] = []
  const instance = () =>
    createServer({
      name: 'guide',
      version: '1.0.0',
      state: sealedState({ keys }),
      tools: [tool],
      resources: [programs.greeting],
      strictReplay: false,
      onWarning: (warning) => void warnings.push(warning),
    })
  const instances = [instance(), instance()]
  let turn = 0
  const client = createClient(
    (request, call) => instances[turn++ % 2]?.exchange(request, call) ?? Promise.reject(new Error()),
    {
      name: 'host',
      version: '1.0.0',
      elicit: ({ message }) => {
        const content = contents[message]
        return content === undefined ? { action: 'decline' } : { action: 'accept', content }
      },
      openUrl: () => ({ action: 'accept' }),
    },
  )
  const { content } = await client.callTool(tool.name, JSON.parse(JSON.stringify(args)))
  expect(warnings).toEqual([])
  const [block] = content
  return block?.type === 'text' ? block.text : ''
}

test('a straight function reads once and saves once, over three rounds', async () => {
  const tracker = createTracker()
  const answers = {
    'How was "Crash on start" resolved?': { resolution: 'Duplicate' },
    'Which bug does it repeat?': { id: 4301 },
  }
  expect(await call(programs.resolveBug(tracker), { id: 4522 }, answers)).toBe(
    '#4522 is Duplicate of #4301 (revision 8)',
  )
  expect(tracker.done).toEqual(['read 4522', 'resolve 4522 Duplicate of #4301'])
})

test('a declined question ends the call, and nothing is saved', async () => {
  const tracker = createTracker()
  expect(await call(programs.resolveBug(tracker), { id: 1 }, {})).toBe(
    'The user declined to answer the question "resolution"',
  )
  expect(tracker.done).toEqual(['read 1'])
})

test('two questions go out together', async () => {
  const answers = { 'On which day?': { day: '2026-12-24' }, 'For how many?': { guests: 4 } }
  expect(await call(programs.book, {}, answers)).toBe('A table for 4 on 2026-12-24')
})

test('a loop asks for each of its items', async () => {
  const answers = { 'Delete /a?': { sure: true }, 'Delete /c?': { sure: true } }
  expect(await call(programs.purge, { paths: ['/a', '/b', '/c'] }, answers)).toBe('Deleted /a, /c')
})

test('what is cleaned up in every run, and what is made up for only after a failure', async () => {
  const tracker = createTracker()
  const answers = { 'How was it resolved?': { resolution: 'Fixed' } }
  expect(await call(programs.resolveLocked(tracker), { id: 7 }, answers)).toBe('Done')
  expect(tracker.done).toEqual(['lock 7', 'release 7', 'lock 7', 'resolve 7 Fixed', 'release 7'])
})

test('a loop goes on where it was', async () => {
  const pages: number[] = []
  const tool = programs.summarize(async (page) => `page ${pages.push(page) && page}`)
  expect(await call(tool, {}, { 'What is the heading?': { heading: 'All' } })).toContain('# All\npage 0\n')
  expect(pages).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

test('time and chance are the same in every run', async () => {
  const day = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const text = await call(programs.remind, {}, { [`What is to be done on ${day}?`]: { text: 'Water the plants' } })
  expect(text).toMatch(/^[0-9a-f-]{36}: Water the plants, \d{4}-\d{2}-\d{2}$/)
})

test('a payment is asked for until the server knows of it', async () => {
  expect(await call(programs.pay(createTracker()), {}, {})).toBe('Paid, thank you')
})

test('a handler may write its rounds out', async () => {
  const server = createServer({
    name: 'guide',
    version: '1.0.0',
    state: sealedState({ keys }),
    resources: [programs.greeting],
  })
  const elicit = (): ElicitAnswer => ({ action: 'accept', content: { name: 'Ada' } })
  const client = createClient(server, { name: 'host', version: '1.0.0', elicit })
  expect(await client.readResource('text://greeting')).toMatchObject({ contents: [{ text: 'Hello, Ada!' }] })
})

test('the whole server answers', async () => {
  const client = createClient(programs.serve(createTracker(), sealedState({ keys })), {
    name: 'host',
    version: '1.0.0',
  })
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['resolve_bug'])
})
