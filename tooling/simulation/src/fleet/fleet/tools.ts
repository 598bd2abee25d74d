import { setTimeout as pause } from 'node:timers/promises'
import { resource, type Resource, type StepContext, type Tool, tool } from '@x/server'
import type { Sessions } from '@x/sessions/server'
import * as z from 'zod'
import type { EffectLog } from '../services/effects.ts'
import type { ReportViolation } from '../invariants/violations.ts'

const answerSchema = z.object({ text: z.string() })

/** The state of a session: the items that its calls have added. */
export type SessionItems = { readonly items: string[] }

interface ToolDeps {
  /** The version of the server. Version 2 has other descriptions and one more optional argument. */
  readonly version: number
  readonly effects: EffectLog
  readonly report: ReportViolation
  readonly session: Sessions<SessionItems>
}

/** Times in milliseconds before the effect of a step. Most steps are short, and some are longer than a lease. */
const shortStepMs = 40
const maxLongStepMs = 5000
const longStepShare = 0.2

/** The time in milliseconds between two attempts of an effect, and the time limit of each. */
const effectRetryMs = 200
const effectTimeoutMs = 2000

/** Returns the text that a client answers to a question. */
export function answerTo(message: string): string {
  return `<${message}>`
}

/** Creates the tools of one instance. */
export function createTools({ version, effects, report, session }: ToolDeps): Tool[] {
  const input = z.object({ name: z.string(), ...(version > 1 && { color: z.string().optional() }) })
  const effectIn =
    (step: string) =>
    async ({ idempotencyKey }: StepContext): Promise<string> => {
      effects.begin(step)
      await pause(Math.random() < longStepShare ? Math.random() * maxLongStepMs : shortStepMs)
      for (;;) {
        const value = await withTimeout(effects.make({ step, idempotencyKey }))
        if (value !== undefined) return value
        await pause(effectRetryMs)
      }
    }
  const checkAnswer = (message: string, text: string): string => {
    if (text !== answerTo(message)) report('answers', `the question "${message}" was answered with "${text}"`)
    return text
  }
  const workflow = {
    description: `Has an effect before, between and after two questions, in version ${version}`,
    input,
    keyedEffects: true,
  }
  const run: Parameters<typeof tool<'pair', typeof input>>[1]['run'] = async ({ name }, ctx) => {
    // A server on standard streams has no callers.
    const caller = ctx.principal?.subject
    if (caller !== undefined && !name.startsWith(`${caller}.`))
      report('owners', `${caller} calls ${name}, the call of another`)
    const one = await ctx.step('one', effectIn(`${name}/one`))
    ctx.progress(1, 3)
    const first = await ctx.elicit('first', { message: `${name}.1`, schema: answerSchema })
    const two = await ctx.step('two', effectIn(`${name}/two`))
    ctx.progress(2, 3)
    const second = await ctx.elicit('second', { message: `${name}.2`, schema: answerSchema })
    const three = await ctx.step('three', effectIn(`${name}/three`))
    return [name, one, checkAnswer(`${name}.1`, first.text), two, checkAnswer(`${name}.2`, second.text), three].join(
      ' ',
    )
  }
  return [
    tool('pair', { ...workflow, run }),
    tool('paint', { ...workflow, task: 'required', run }),
    tool('walk', {
      description: 'Has eight effects in turn, without questions',
      input,
      keyedEffects: true,
      run: async ({ name }, ctx) => {
        const values: string[] = []
        for (let index = 1; index <= walkSteps; index += 1)
          values.push(await ctx.step(`step-${index}`, effectIn(`${name}/${index}`)))
        return [name, ...values].join(' ')
      },
    }),
    ...createStateTools(session),
  ]
}

/** Creates the tools that change a session and notify clients of a change. */
function createStateTools(session: ToolDeps['session']): Tool[] {
  const input = z.object({ name: z.string() })
  return [
    tool('add', {
      description: 'Adds an item to the session',
      input,
      visibleTo: session.isInSession,
      run: ({ name }, ctx) => {
        const current = session.of(ctx)
        const items = [...current.state.items, name]
        current.setState({ items })
        return items.join(' ')
      },
    }),
    tool('change', {
      description: 'Notifies clients that the board has changed',
      input,
      async run({ name }, ctx) {
        await ctx.notifyResourceUpdated(boardUri)
        return name
      },
    }),
  ]
}

/** The resource to which clients subscribe. */
export const boardUri = 'fleet://board'
export const board: Resource = resource(boardUri, { name: 'board', read: () => 'The board' })

/** The steps of a walk. */
export const walkSteps = 8

/** Resolves with the value of a promise, or with undefined if it rejects or exceeds the time limit. */
function withTimeout<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([promise.catch(() => undefined), pause(effectTimeoutMs).then(() => undefined)])
}
