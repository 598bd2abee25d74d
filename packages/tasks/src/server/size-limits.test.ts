import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { platformRuntime } from '@x/core'
import { errorCodes, isJsonObject, McpError } from '@x/schema'
import { tool, toolResult } from '@x/server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { TaskEngine } from '../engines/engine.ts'
import { postgresEngine } from '../engines/postgres/postgres-engine.ts'
import { accept, sendTaskAnswer, createFleet, replayModes, textOf } from '../testing/fleet.ts'

const named = z.object({ name: z.string() })
const long = (bytes: number): string => 'x'.repeat(bytes)

/** Tools that store too much, and the errors of their tasks. */
const greedy = [
  [
    'the result of a step is too long',
    tool('greedy', { description: 'x', task: 'required', run: (_, ctx) => ctx.step('scan', () => long(4_001_000)) }),
    /^The journal of the task has 4001\d{3} bytes with steps "scan", which has 4001\d{3}, and may have 4000000: let a step return a reference/,
  ],
  [
    'the results of many steps together are too long',
    tool('greedy', {
      description: 'x',
      task: 'required',
      run: async (_, ctx) => {
        for (let step = 0; step < 30; step++) await ctx.step(`step-${step}`, () => long(200_000))
        return 'done'
      },
    }),
    /^The journal of the task has 4\d{6} bytes with steps "step-19", which has 2000\d\d, and may have 4000000: /,
  ],
  [
    'a checkpoint is too long, and the handler continues',
    tool('greedy', {
      description: 'x',
      task: 'required',
      run: async (_, ctx) => {
        await ctx
          .checkpoint('at', '')
          .save(long(4_001_000))
          .catch(() => {})
        return 'done'
      },
    }),
    /with checkpoints "at", which has 4001\d{3}, and may have 4000000: /,
  ],
  [
    'a question is too long',
    tool('greedy', {
      description: 'x',
      task: 'required',
      run: async (_, ctx) => (await ctx.elicit('who', { message: long(3_999_990), schema: named })).name,
    }),
    /(^The questions of the task have 4\d{6} bytes|questions "who").*, and may have 4000000: /,
  ],
  [
    'a result is too long',
    tool('greedy', { description: 'x', task: 'required', run: () => long(4_000_000) }),
    /^The result of the task has 40\d{5} bytes, and may have 4000000: return less, or links to the rest/,
  ],
  [
    'a result with `isError` is too long',
    tool('greedy', {
      description: 'x',
      task: 'required',
      run: () => toolResult({ isError: true, content: [{ type: 'text', text: long(4_000_000) }] }),
    }),
    /^The result of the task has 40\d{5} bytes, and may have 4000000: /,
  ],
  [
    'an error is too long',
    tool('greedy', {
      description: 'x',
      task: 'required',
      run: () => Promise.reject(new McpError(errorCodes.internal, 'No', { data: { why: long(4_000_000) } })),
    }),
    /^The error of the task has 40\d{5} bytes, and may have 4000000: /,
  ],
] as const

/** An engine, and the length of the longest value that it had to store. */
function measured(engine: TaskEngine): { readonly engine: TaskEngine; readonly longest: () => number } {
  let longest = 0
  const note = (value: unknown): void => {
    longest = Math.max(longest, JSON.stringify(value).length)
  }
  const noting: TaskEngine = {
    ...engine,
    record: (lease, progress) => (note(progress), engine.record(lease, progress)),
    suspend: (lease, suspension) => (note(suspension), engine.suspend(lease, suspension)),
    release: (lease, progress) => (note(progress), engine.release(lease, progress)),
    finish: (lease, end) => (note(end), engine.finish(lease, end)),
  }
  return { engine: noting, longest: () => longest }
}

let postgres: RealPostgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

describe.each([
  ['in memory', (engine: TaskEngine) => engine, {}],
  ['over PostgreSQL', () => postgresEngine(postgres.url), { runtime: platformRuntime }],
] as const)('a task that would store too much %s fails with an error about it', (_where, engineOf, options) => {
  test.each(
    replayModes.flatMap((mode) =>
      greedy.map(([title, greedyTool, expected]) => ({ title, greedyTool, expected, ...mode })),
    ),
  )('$title (strict replay: $strictReplay)', async ({ greedyTool, expected, strictReplay }) => {
    const store = { longest: () => 0 }
    const fleet = createFleet((inner) => {
      const { engine, longest } = measured(engineOf(inner))
      store.longest = longest
      return engine
    })
    const { server, start, reach, errors } = fleet.add([greedyTool], options, { strictReplay })
    // A worker that a failure leaves running would take the tasks of the next test.
    onTestFinished(() => server.close())
    const { status, error, statusMessage } = await reach(await start('greedy'), ({ status }) => status !== 'working')
    expect([status, error, statusMessage]).toEqual([
      'failed',
      { code: errorCodes.internal, message: expect.stringMatching(expected) },
      expect.stringMatching(expected),
    ])
    expect(errors.map(String)).toContainEqual(expect.stringMatching(/Error: A task failed: .* and may have /))
    expect(store.longest()).toBeLessThan(300_000)
  })
})

test('the entries of a call before it becomes a task count too, and the call fails beyond the limit', async () => {
  const becoming = tool('become', {
    description: 'x',
    run: async (_, ctx) => {
      await ctx.step('scan', () => long(4_001_000))
      await ctx.continueAsTask('required')
      return 'done'
    },
  })
  const { error, errors } = createFleet().add([becoming], {}, { strictReplay: false })
  const message = expect.stringMatching(
    /^The journal of the call that becomes a task has 4001\d{3} bytes, and may have 4000000: /,
  )
  expect(await error('tools/call', { name: 'become' })).toEqual({ code: errorCodes.internal, message })
  expect(errors).toHaveLength(1)
})

test('an entry that replaces an earlier one counts once, and the size continues at the next instance', async () => {
  const saving = tool('save', {
    description: 'x',
    task: 'required',
    run: async (_, ctx) => {
      const at = ctx.checkpoint('at', '')
      for (let time = 0; time < 10; time++) await at.save(long(2_000_000))
      const { name } = await ctx.elicit('who', { message: 'Who?', schema: named })
      return ctx.step('scan', () => long(Number(name)))
    },
  })
  const fleet = createFleet()
  const ends = []
  for (const bytes of [100_000, 1_999_900]) {
    const before = fleet.add([saving], {}, { strictReplay: false })
    const id = await before.start('save')
    await before.reach(id, 'input_required')
    await before.server.close()
    const after = fleet.add([saving], {}, { strictReplay: false })
    await sendTaskAnswer(after, id, { who: accept({ name: `${bytes}` }) })
    ends.push(await after.reach(id, ({ status }) => status === 'completed' || status === 'failed'))
    await after.server.close()
  }
  expect(ends.map(({ status, error }) => [status, isJsonObject(error) ? error.message : undefined])).toEqual([
    ['completed', undefined],
    ['failed', expect.stringContaining('with steps "scan", which has 1999')],
  ])
})

test('a long answer does not fail a task until another entry is recorded', async () => {
  const asking = (after: boolean) =>
    tool(after ? 'record' : 'end', {
      description: 'x',
      task: 'required',
      run: async (_, ctx) => {
        const { name } = await ctx.elicit('who', { message: 'Who?', schema: named })
        return after ? ctx.step('after', () => `${name.length}`) : `${name.length}`
      },
    })
  const instance = createFleet().add([asking(true), asking(false)], {}, { strictReplay: false })
  const ends = []
  for (const name of ['end', 'record']) {
    const id = await instance.start(name)
    await instance.reach(id, 'input_required')
    await sendTaskAnswer(instance, id, { who: accept({ name: long(4_001_000) }) })
    ends.push(await instance.reach(id, ({ status }) => status === 'completed' || status === 'failed'))
  }
  expect(ends.map(({ status, result }) => [status, textOf(result)])).toEqual([
    ['completed', '4001000'],
    ['failed', undefined],
  ])
})
