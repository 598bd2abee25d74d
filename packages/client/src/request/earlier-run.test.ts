import { type JsonObject, projectMetaKeys } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createClient } from '../create-client.ts'
import { errorResult } from '../models/model-tools.ts'
import { createInputRequired, createSequentialExchange, nameFormRequest } from '../testing/asking.ts'
import { createSkippingClock, transportError } from '../testing/lost-answers.ts'
import {
  createMinimalTool,
  createScriptedExchange,
  createToolsPage,
  hostInfo,
  type Script,
  type ScriptedExchange,
} from '../testing/scripted-exchange.ts'
import { ClientError } from './client-error.ts'

const origin = 'https://x.test'
const lost = transportError('HttpError', { code: 'closed', origin })
const refused = transportError('HttpError', { code: 'refused', mayHaveRun: false, origin })
const answered = (code: number, data: JsonObject = {}) => ({ error: { code, message: 'Not now', data } })
const overloaded = answered(-32603, { reason: 'overloaded', retryAfterMs: 60_000 })
const asked = createInputRequired({ who: nameFormRequest }, 's1')

const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
const options = { ...hostInfo, elicit, runtime: createSkippingClock() }
const manualOptions = { ...hostInfo, capabilities: { elicitation: {} }, runtime: createSkippingClock() }

/** Ends the attempts one after the other, the last way again and again, and lists a tool that may be sent twice. */
function ending(...ends: readonly (Error | ReturnType<Script>)[]): ScriptedExchange {
  const tools = [createMinimalTool('pay', { _meta: { [projectMetaKeys.keyedEffects]: true } })]
  let attempts = 0
  return createScriptedExchange(({ request }) => {
    if (request.method === 'tools/list') return createToolsPage(tools)
    const end = ends[Math.min(attempts, ends.length - 1)]
    attempts += 1
    if (end instanceof Error || end === undefined) throw end
    return end
  })
}

async function errorOf(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ClientError) return error
  throw new Error('the call has not failed', { cause: error })
}

describe('a call that was sent again', () => {
  test.each([
    ['does not reach the server any more', refused],
    ['meets an overloaded server', overloaded],
    ['meets a server of another revision', answered(-32022, { supported: ['1999-01-01'] })],
  ])('may have run the first time, also if it then %s [UNA-003]', async (_title, end) => {
    const error = await errorOf(createClient(ending(lost, end), options).callTool('pay'))
    expect([error.mayHaveRun, error.cause === lost]).toEqual([true, false])
  })

  test('has not run if no attempt reached the server, or if it only reads [UNA-003]', async () => {
    const unreached = createClient(ending(refused, overloaded), options).callTool('pay')
    const read = createClient(ending(lost, refused), options).readResource('a:b')
    expect([await errorOf(unreached), await errorOf(read)]).toMatchObject([
      { mayHaveRun: false },
      { mayHaveRun: false },
    ])
  })

  test('may have run before the server wanted other headers', async () => {
    const mismatch = answered(-32020)
    const error = await errorOf(createClient(ending(lost, mismatch, refused), options).callTool('pay'))
    expect(error).toMatchObject({ mayHaveRun: true, code: 'transport' })
  })
})

describe('a call that was asked', () => {
  test.each([
    ['its answer does not reach the server', refused, {}],
    ['the server is overloaded when its answer comes', overloaded, {}],
    ['a call of its handler fails', asked, { elicit: () => createClient(ending(refused), options).callTool('other') }],
  ])('may have run before the question, also if %s [UNA-003]', async (_title, end, more) => {
    const client = createClient(ending(asked, end), { ...options, ...more } as typeof options)
    const error = await errorOf(client.callTool('pay'))
    expect(error.mayHaveRun).toBe(true)
    expect(errorResult(error).content).toMatchObject([{ text: expect.stringMatching(/The tool may have run/) }])
  })

  test('has not run if it only reads', async () => {
    const error = await errorOf(createClient(ending(asked, refused), options).getPrompt('p'))
    expect(error.mayHaveRun).toBe(false)
  })

  test('and answered by hand may have run before the question', async () => {
    const client = createClient(createSequentialExchange(asked, overloaded), manualOptions)
    const round = await client.manualRounds.callTool('pay')
    if (round.status !== 'input_required') throw new Error('nothing was asked')
    const { pendingCall } = round
    expect(await errorOf(round.resume({ who: elicit() }))).toMatchObject({ code: 'rpc', mayHaveRun: true })
    const other = createClient(ending(refused), manualOptions).manualRounds
    expect(await errorOf(other.resume(pendingCall, { who: elicit() }))).toMatchObject({ mayHaveRun: true })
    const broken = other.resume({ ...pendingCall, round: 0 }, { who: elicit() })
    expect(await errorOf(broken)).toMatchObject({ code: 'invalid_pending', mayHaveRun: true })
  })
})
