import { type Exchange, serverOf } from '@x/exchange'
import { isJsonObject, type JsonObject, type JsonValue, metaKeys, type RpcResponse } from '@x/schema'
import { shapes, zodOf } from '@x/schema/zod'
import { createServer } from '@x/server'
import { isStateError } from '@x/state-codec'
import { httpHandler } from '@x/transport-http'
import { connectHttp } from '@x/transport-http/client'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  alphabet,
  alter,
  alteration,
  targetWithAnswers,
  targetWithRounds,
  target,
  answers,
} from './hostile-arbitraries.ts'
import { expectedInputs, hostileDefinition, secrets, type Target, targets } from './hostile-server.ts'
import { resultOf, send } from './raw-request.ts'

const meta = { [metaKeys.clientCapabilities]: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} } }
const completeOf = new Map<string, { parse(result: unknown): unknown }>([
  ['tools/call', zodOf(shapes.callToolResult)],
  ['prompts/get', zodOf(shapes.getPromptResult)],
  ['resources/read', zodOf(shapes.readResourceResult)],
])

interface Attempt {
  readonly response: RpcResponse
  /** The questions whose answers reached the handler, with the values that it received. */
  readonly accepted: readonly (readonly [string, unknown])[]
  readonly errors: readonly unknown[]
}

/** Creates a server and a function that sends it a hostile request. */
function createAttack(wrap: (exchange: Exchange) => Exchange = (exchange) => exchange) {
  let accepted: [string, unknown][] = []
  let errors: unknown[] = []
  const server = createServer({
    name: 'hostile',
    version: '1.0.0',
    ...hostileDefinition((key, given) => void accepted.push([key, given])),
    log: ({ err }) => void errors.push(err),
  })
  const exchange = wrap(server.exchange)
  return async ({ method, params }: Target, more: JsonObject): Promise<Attempt> => {
    accepted = []
    errors = []
    const { response } = await send(exchange, { method, params: { ...params, ...more }, meta, id: 'attack' })
    return { response, accepted, errors }
  }
}

/** Checks the properties that hold for every response to any input. */
function checkAttempt({ method }: Target, { response, accepted, errors }: Attempt, code = -32602): void {
  zodOf(shapes.rpcResponse).parse(response)
  expect(response.id).toBe('attack')
  const text = JSON.stringify(response)
  // The response reveals no stored value, key, file name or stack trace of the server.
  for (const inside of [...secrets, 'node:', '.ts:', 'at async', 'StateError', 'unknown_key', 'forged']) {
    expect(text).not.toContain(inside)
  }
  // A rejected token is logged. Any other error is a fault of the server.
  expect(errors.filter((error) => !isStateError(error))).toEqual([])
  for (const [key, given] of accepted) expect(expectedInputs.get(key)?.safeParse(given).success, key).toBe(true)
  if ('error' in response) {
    expect(response.error.code).toBe(code)
    expect(response.error.message.length).toBeLessThan(1000)
    return
  }
  if (response.result['resultType'] === 'input_required') {
    zodOf(shapes.inputRequiredResult).parse(response.result)
    return
  }
  expect(response.result['resultType']).toBe('complete')
  completeOf.get(method)?.parse(response.result)
}

async function stateOf(attack: ReturnType<typeof createAttack>, of: Target): Promise<string> {
  const { requestState } = resultOf((await attack(of, {})).response)
  if (typeof requestState !== 'string') throw new Error('the first round returned no state')
  return requestState
}

const hostileEntries: readonly [string, JsonValue][] = [
  ['__proto__', { admin: true }],
  ['constructor', 1],
]

function sampled(text: string): JsonObject {
  return { role: 'assistant', content: { type: 'text', text }, model: 'm' }
}

function nested(levels: number): JsonObject {
  let value: JsonObject = {}
  for (let level = 0; level < levels; level += 1) value = { deeper: value }
  return value
}

const overFetch = (exchange: Exchange): Exchange => {
  const info = { name: 'hostile', version: '1.0.0' }
  const handle = httpHandler(serverOf(exchange, { info, localOnly: undefined }))
  return connectHttp('http://127.0.0.1/mcp', { fetch: (input, init) => handle(new Request(input, init)) }).exchange
}

const isNight = process.env['NIGHT'] === '1'

// Each run has other inputs, so that small runs for each change find in time what a large one at night finds.
describe.each([
  ['memory', undefined, isNight ? 1000 : 150],
  ['the fetch handler', overFetch, isNight ? 200 : 50],
] as const)('hostile input over %s', (_, wrap, numRuns) => {
  test('any text as a state is rejected, and no handler receives an answer [MRT-007 MRT-009]', async () => {
    const attack = createAttack(wrap)
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: fc.constantFrom(...alphabet, '.', '='), maxLength: 300 }),
      fc.constantFrom('', '.', '....', 'null', '{}', 'eyJhbGciOiJub25lIn0..', 'A'.repeat(40_000)),
    )
    const property = fc.asyncProperty(target, text, answers, async (of, requestState, inputResponses) => {
      const attempt = await attack(of, { requestState, inputResponses })
      checkAttempt(of, attempt)
      expect(attempt.response).toHaveProperty('error')
      expect(attempt.accepted).toEqual([])
    })
    await fc.assert(property, { numRuns })
  })

  test('a state that was altered is rejected, and no handler receives an answer [MRT-007 MRT-008 MRT-009 MRT-026]', async () => {
    const attack = createAttack(wrap)
    const property = fc.asyncProperty(
      target,
      fc.array(alteration, { minLength: 1, maxLength: 3 }),
      async (of, changes) => {
        const real = await stateOf(attack, of)
        const requestState = changes.reduce((state, change) => (state === '' ? state : alter(state, change)), real)
        fc.pre(requestState !== real)
        const attempt = await attack(of, { requestState, inputResponses: of.validAnswers })
        checkAttempt(of, attempt)
        expect(attempt.response).toMatchObject({ error: { message: 'Invalid or expired requestState' } })
        expect(attempt.accepted).toEqual([])
      },
    )
    await fc.assert(property, { numRuns })
  })

  test('a state of another call is rejected [MRT-012]', async () => {
    const attack = createAttack(wrap)
    const property = fc.asyncProperty(target, target, async (of, other) => {
      fc.pre(of !== other)
      const attempt = await attack(of, { requestState: await stateOf(attack, other), inputResponses: of.validAnswers })
      checkAttempt(of, attempt)
      expect(attempt.response).toMatchObject({ error: { message: 'Invalid or expired requestState' } })
      expect(attempt.accepted).toEqual([])
    })
    await fc.assert(property, { numRuns: 100 })
  })

  test('answers that arrive before the question are rejected, asked for again, or accepted if valid [MRT-022 MRT-024]', async () => {
    const attack = createAttack(wrap)
    const property = fc.asyncProperty(targetWithAnswers, async ([of, inputResponses]) => {
      const attempt = await attack(of, { inputResponses })
      // Without a state, the explicit form accepts answers of each of the three kinds before its first question. Its
      // handler validates them.
      const isExplicit = JSON.stringify(of.params).includes('"explicit"')
      checkAttempt(of, isExplicit ? { ...attempt, accepted: [] } : attempt)
      for (const [key] of attempt.accepted) {
        expect(isJsonObject(inputResponses) && Object.hasOwn(inputResponses, key), key).toBe(true)
      }
    })
    await fc.assert(property, { numRuns })
  })

  test('answers of any form to a real state are rejected, asked for again, or accepted if valid [MRT-022 MRT-023 MRT-024 MRT-025]', async () => {
    const attack = createAttack(wrap)
    const property = fc.asyncProperty(targetWithAnswers, async ([of, inputResponses]) => {
      const attempt = await attack(of, { requestState: await stateOf(attack, of), inputResponses })
      checkAttempt(of, attempt)
      // The handler received the answer to each question that it asked.
      for (const [key] of attempt.accepted) {
        expect(isJsonObject(inputResponses) && Object.hasOwn(inputResponses, key), key).toBe(true)
      }
    })
    await fc.assert(property, { numRuns })
  })

  test('answers of any form over several rounds give a handler only values that match its schema [MRT-022]', async () => {
    const attack = createAttack(wrap)
    const property = fc.asyncProperty(targetWithRounds, async ([of, rounds]) => {
      let more: JsonObject = {}
      for (const given of [{}, ...rounds]) {
        const attempt = await attack(of, { ...more, inputResponses: given })
        checkAttempt(of, attempt)
        if ('error' in attempt.response) return
        const { requestState } = attempt.response.result
        if (requestState === undefined) return
        more = { requestState }
      }
    })
    await fc.assert(property, { numRuns: Math.ceil(numRuns / 3) })
  })

  test.each([
    ['a text of 20 KB', sampled('x'.repeat(20_000))],
    ['a _meta of 40 levels', { ...sampled('x'), _meta: nested(40) }],
    ['a _meta with hostile keys', { ...sampled('x'), _meta: Object.fromEntries(hostileEntries) }],
    ['a lone surrogate', sampled('\uD800')],
  ])('an answer of %s is stored in the state', async (_, why) => {
    const attack = createAttack(wrap)
    const [, atOnce] = targets
    const attempt = await attack(atOnce, { requestState: await stateOf(attack, atOnce), inputResponses: { why } })
    checkAttempt(atOnce, attempt)
    expect(Object.keys(resultOf(attempt.response)['inputRequests'] ?? {})).toEqual(['sure', 'places'])
  })

  test.each([
    ['a text of 100 KB', sampled('x'.repeat(100_000))],
    ['a text of 3 MB', sampled('x'.repeat(3_000_000))],
    ['10,000 blocks of text', { ...sampled(''), content: Array(10_000).fill({ type: 'text', text: 'x' }) }],
  ])(
    'an answer of %s is too large for the state: the client receives an error, and the reason is logged',
    async (_, why) => {
      const attack = createAttack(wrap)
      const [, atOnce] = targets
      const attempt = await attack(atOnce, { requestState: await stateOf(attack, atOnce), inputResponses: { why } })
      expect(attempt.errors).toMatchObject([{ code: 'too_large' }])
      checkAttempt(atOnce, { ...attempt, errors: [] }, -32602)
      expect(attempt.accepted).toEqual([])
    },
  )

  test.each(targets)('$method $params.name: valid answers are accepted', async (of) => {
    const attack = createAttack(wrap)
    const attempt = await attack(of, { requestState: await stateOf(attack, of), inputResponses: of.validAnswers })
    checkAttempt(of, attempt)
    expect(attempt.accepted.map(([key]) => key)).toEqual(Object.keys(of.validAnswers))
  })
})
