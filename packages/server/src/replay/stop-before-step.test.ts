import type { JournalStore } from '@x/exchange'
import { errorCodes, McpError } from '@x/schema'
import { randomKey } from '@x/state-codec'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { sealedState } from '../index.ts'
import { inspectState } from '../inspect.ts'
import { accept, replayModes, type RunHandler, send, serve } from '../testing/rounds.ts'

const text = { message: 'What?', schema: z.object({ text: z.string() }) }

/** A journal store that stops the call before each step that is not recorded, as a replay outside of the server has. */
function stoppingStore(journal: JournalStore['journal'], responses: JournalStore['responses'] = {}) {
  const steps: string[] = []
  const store: JournalStore = {
    journal,
    responses,
    append: () => {},
    commit: (next) => {
      if (next === undefined) return undefined
      steps.push(next.step)
      return Promise.reject(new McpError(errorCodes.internal, `Stopped before ${next.step}`))
    },
  }
  return { store, steps }
}

describe.each(replayModes)('with strictReplay $strictReplay', (mode) => {
  const answered = { a: accept({ text: 'yes' }) }

  /** Runs a handler to its question, and again with the answer in a journal store that stops it. */
  async function replay(run: RunHandler, effects: string[]) {
    const keys = [randomKey()]
    const served = serve(run, { ...mode, state: sealedState({ keys }) })
    const { state = '' } = await send(served)
    effects.splice(0)
    const { store, steps } = stoppingStore((await inspectState(state, { keys })).journal, answered)
    const { error, text: outcome } = await send(served, {}, { journal: store })
    return { error, outcome, steps }
  }

  test('a recorded step is not executed, and the call stops before the first other one [OPS-008]', async () => {
    const effects: string[] = []
    const run: RunHandler = async (ctx) => {
      await ctx.step('read', () => void effects.push('read'))
      await ctx.elicit('a', text)
      await ctx.step('save', () => void effects.push('save'))
      await ctx.step('mail', () => void effects.push('mail'))
      return 'done'
    }
    expect(await replay(run, effects)).toMatchObject({ error: { message: 'Stopped before save' }, steps: ['save'] })
    expect(effects).toEqual([])
  })

  test('a handler that catches everything executes no later step either [OPS-008]', async () => {
    const effects: string[] = []
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('a', text)
      for (const key of ['save', 'mail', 'log']) {
        try {
          await ctx.step(key, () => void effects.push(key))
        } catch {
          effects.push(`caught ${key}`)
        }
      }
      return 'done'
    }
    const { error, steps } = await replay(run, effects)
    expect([error?.message, steps]).toEqual(['Stopped before save', ['save']])
    expect(effects.filter((effect) => !effect.startsWith('caught'))).toEqual([])
  })

  test('no step of parallel branches is executed [OPS-008]', async () => {
    const effects: string[] = []
    const run: RunHandler = async (ctx) => {
      await ctx.elicit('a', text)
      await Promise.all(['save', 'mail'].map((key) => ctx.step(key, () => void effects.push(key))))
      return 'done'
    }
    expect(await replay(run, effects)).toMatchObject({ error: { message: expect.stringMatching(/^Stopped before/) } })
    expect(effects).toEqual([])
  })

  test('a call without further steps ends, and its checkpoints and UUIDs stop nothing', async () => {
    const run: RunHandler = async (ctx) => {
      const pages = ctx.checkpoint('pages', 0)
      const { text: said } = await ctx.elicit('a', text)
      await pages.save(1)
      return `${said} ${ctx.uuid('id').length}`
    }
    expect(await replay(run, [])).toEqual({ error: undefined, outcome: 'yes 36', steps: [] })
  })
})
