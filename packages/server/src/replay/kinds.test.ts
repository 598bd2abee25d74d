import { errorCodes } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { inputRequired, type ServerDefinition } from '../index.ts'
import { createManualLoad, overloadedLoad, serveWithLoad } from '../testing/load.ts'
import {
  accept,
  type Answer,
  type HandlerKind,
  handlerKinds,
  replayModes,
  completeCall,
  type RunHandler,
  send,
  serve,
  toolKind,
} from '../testing/rounds.ts'

const name = { message: 'Who?', schema: z.object({ name: z.string().min(2) }) }
const ada = accept({ name: 'Ada' })
const hello = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 9 } as const
const page = { message: 'Please log in', url: 'https://login.example/', done: () => true }
const form = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
} as const

/** A handler and the answers of its client. */
interface Program {
  readonly title: string
  readonly run: RunHandler
  readonly answers?: Readonly<Record<string, Answer>>
}

const programs: readonly Program[] = [
  { title: 'asks nothing', run: () => 'done' },
  {
    title: 'asks again for answers that are missing or invalid',
    run: async (ctx) => (await ctx.elicit('who', name)).name,
    answers: { who: (_, round) => (round === 0 ? undefined : accept({ name: 'x' })), 'who~2': ada },
  },
  {
    title: 'rejects a third invalid answer',
    run: async (ctx) => (await ctx.elicit('who', name)).name,
    answers: { who: accept({}), 'who~2': accept({}), 'who~3': accept({}) },
  },
  {
    title: 'reads a declined answer',
    run: async (ctx) => (await ctx.elicitResult('who', name)).action,
    answers: { who: { action: 'decline' } },
  },
  {
    title: 'catches its suspension and throws it again',
    run: (ctx) =>
      ctx
        .elicit('who', name)
        .then(({ name }) => name)
        .catch((error) => Promise.reject(error)),
    answers: { who: ada },
  },
  {
    title: 'records steps, checkpoints and UUIDs under one key, and asks between them',
    run: async (ctx) => {
      const checkpoint = ctx.checkpoint('k', 0)
      while (checkpoint.value < 2) await checkpoint.save(checkpoint.value + 1)
      const step = await ctx.step('k', () => 'stepped')
      await ctx.elicit('k', name)
      return `${checkpoint.value} ${step} ${ctx.uuid('k')} ${ctx.now()}`
    },
    answers: { k: ada },
  },
  {
    title: 'asks for a page, the model and roots at once',
    run: async (ctx) => {
      const answers = [ctx.elicitUrl('page', page), ctx.sampleText('model', hello), ctx.roots('roots')]
      return JSON.stringify(await Promise.all(answers))
    },
    answers: {
      page: { action: 'accept' },
      model: { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm' },
      roots: { roots: [] },
    },
  },
  {
    title: 'writes its rounds out',
    run: ({ responses, state }) =>
      state === undefined
        ? inputRequired({ requests: { who: form }, state: { round: 1 } })
        : JSON.stringify([...responses.keys(), state]),
    answers: { who: ada },
  },
]

/** Everything that a client and the author see of a call, with one name for all kinds. */
async function transcriptOf({ run, answers = {} }: Program, kind: HandlerKind, settings: Partial<ServerDefinition>) {
  const runtime = { now: () => 1_000_000_000_000, randomUuid: () => 'uuid' }
  const served = serve(run, { ...settings, runtime }, kind)
  const { rounds, asked, text, error } = await completeCall(served, answers)
  return {
    requests: rounds.map(({ requests }) => requests),
    asked,
    text,
    error,
    warnings: served.warnings.map(({ code, message }) => [code, message.replace(/^\S+ \S+ /, '')]),
    reported: served.reported.length,
  }
}

const others = handlerKinds.filter((kind) => kind !== toolKind)

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  describe.each(others)('a $kind', (kind) => {
    test.each(programs)('that $title behaves as a tool does [MRT-001 MRT-006 MRT-014 MRT-025]', async (program) => {
      expect(await transcriptOf(program, kind, mode)).toEqual(await transcriptOf(program, toolKind, mode))
    })

    test('that its user does not answer fails with the key and the action: it has no result for that', async () => {
      const run: RunHandler = async (ctx) => (await ctx.elicit('who', name)).name
      for (const action of ['decline', 'cancel']) {
        const { error } = await completeCall(serve(run, mode, kind), { who: { action } })
        expect(error).toMatchObject({ code: errorCodes.invalidParams, data: { key: 'who', action } })
      }
    })

    test('is handed off at the end of a step, and does not open the state of a tool', async () => {
      const ran: string[] = []
      const run: RunHandler = async (ctx) => {
        for (const key of ['one', 'two']) await ctx.step(key, () => void ran.push(key))
        return 'done'
      }
      const first = await send(serveWithLoad(createManualLoad(overloadedLoad), run, { ...mode, kind }))
      expect([first.requests, ran]).toEqual([{}, ['one']])
      const target = serveWithLoad(createManualLoad(), run, { ...mode, kind })
      expect((await send(serve(run, mode), { state: first.state })).error?.data).toEqual({ reason: 'requestState' })
      expect((await send(target, { state: first.state })).text).toBe('done')
      expect(ran).toEqual(['one', 'two'])
    })
  })
})
