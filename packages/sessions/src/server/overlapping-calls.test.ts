import type { ServerExtension } from '@x/exchange'
import { type Context, tool, ToolError } from '@x/server'
import { memoryStore } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LogRecord } from '@x/core'
import {
  callIn,
  createManualClock,
  createSession,
  createNotesSessions,
  createTestServer,
  textOf,
} from '../testing/asking.ts'

describe('Overlapping calls', () => {
  const setUp = (store: ReturnType<typeof memoryStore> | undefined) => {
    const { sessions } = createNotesSessions({ store })
    const add = tool('add', {
      description: 'Adds',
      input: z.object({ text: z.string(), fail: z.boolean().optional(), careful: z.boolean().optional() }),
      async run({ text, fail, careful }, ctx: Context) {
        const session = sessions.of(ctx)
        if (careful === true && !(await session.claim())) throw new ToolError('Somebody else was faster')
        if (fail === true) throw new ToolError('No')
        session.setState({ notes: [...session.state.notes, text] })
        return session.state.notes.join(' ')
      },
    })
    const errors: unknown[] = []
    const log = ({ err }: LogRecord): void => void errors.push(err)
    return { server: createTestServer({ tools: [add], strictReplay: false, extensions: [sessions], log }), errors }
  }

  test('each answer with the state that they made: the state in the last response that the client receives counts [SES-009]', async () => {
    const { server } = setUp(undefined)
    const session = await createSession(server)
    const both = await Promise.all(['a', 'b'].map((text) => callIn(server, session, 'add', { text })))
    expect(both.map(({ text }) => text)).toEqual(['a', 'b'])
    expect((await callIn(server, both[1]?.session, 'add', { text: 'c' })).text).toBe('b c')
  })

  test('that claim the next revision have one winner, and the next one may claim again', async () => {
    const { server } = setUp(memoryStore())
    const session = await createSession(server)
    const calls = Array.from({ length: 20 }, (_, index) =>
      callIn(server, session, 'add', { text: `${index}`, careful: true }),
    )
    const ended = await Promise.all(calls)
    const winners = ended.filter(({ text }) => text !== 'Somebody else was faster')
    expect(winners).toHaveLength(1)
    expect((await callIn(server, winners[0]?.session, 'add', { text: 'next', careful: true })).text).toMatch(
      /^\d+ next$/,
    )
  })

  test('give a claim back when they fail', async () => {
    const { server } = setUp(memoryStore())
    const session = await createSession(server)
    expect((await callIn(server, session, 'add', { text: 'a', careful: true, fail: true })).text).toBe('No')
    expect((await callIn(server, session, 'add', { text: 'b', careful: true })).text).toBe('b')
  })

  test('do not give back the claim of another call, when their own has expired before they fail', async () => {
    const clock = createManualClock()
    const { sessions } = createNotesSessions({ store: memoryStore({ runtime: clock }) })
    const slow = tool('slow', {
      description: 'Fails after its claim has expired and another call has claimed',
      async run(_args, ctx: Context) {
        await sessions.of(ctx).claim({ ttlMs: 1000 })
        clock.advance(1000)
        expect((await callIn(server, session, 'claim')).text).toBe('true')
        throw new ToolError('No')
      },
    })
    const claim = tool('claim', {
      description: 'Claims',
      run: async (_args, ctx: Context) => String(await sessions.of(ctx).claim()),
    })
    const server = createTestServer({ tools: [slow, claim], strictReplay: false, extensions: [sessions] })
    const session = await createSession(server)
    expect((await callIn(server, session, 'slow')).text).toBe('No')
    expect((await callIn(server, session, 'claim')).text).toBe('false')
  })

  test('give a claim back when they become a task, which changes no state', async () => {
    const { sessions } = createNotesSessions({ store: memoryStore() })
    const claim = tool('claim', {
      description: 'Claims',
      run: async (_args, ctx: Context) => String(await sessions.of(ctx).claim()),
    })
    const texts: string[] = []
    const becomesTask: ServerExtension = {
      extends: 'server',
      name: 'becomesTask',
      middleware: (next) => async (request, call) => {
        const response = await next(request, call)
        if (request.method !== 'tools/call' || 'error' in response) return response
        texts.push(textOf(response.result))
        return { ...response, result: { resultType: 'task', taskId: 'a' } }
      },
    }
    const server = createTestServer({ tools: [claim], strictReplay: false, extensions: [sessions, becomesTask] })
    const session = await createSession(server)
    for (let count = 0; count < 2; count += 1) await callIn(server, session, 'claim')
    expect(texts).toEqual(['true', 'true'])
  })

  test('cannot claim without a store', async () => {
    const { server, errors } = setUp(undefined)
    await callIn(server, await createSession(server), 'add', { text: 'a', careful: true })
    expect(String(errors)).toContain('needs a store')
  })
})
