import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import * as fc from 'fast-check'
import { type Target, targets } from './hostile-server.ts'

/** Generates any target. */
export const target: fc.Arbitrary<Target> = fc.constantFrom(...targets)

const hostileKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', '', '~', '0'),
  fc.constantFrom('resolution', 'original', 'sure', 'why', 'places', 'which', 'login', 'page'),
  fc.constantFrom('resolution~1', 'resolution~2', 'original~2', 'resolution ', 'Resolution', 'price', 'secret'),
  fc.string({ maxLength: 30, unit: 'binary' }),
)
const anyJson = fc.json({ maxDepth: 4 }).map((text): JsonValue => JSON.parse(text))
const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom('Fixed', 17, 'Duplicate'),
)
const members = (value: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> =>
  fc.array(fc.tuple(hostileKey, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries))
const nearlyAnswer: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.record({ action: fc.constantFrom('accept', 'decline', 'cancel'), content: members(scalar) }),
  fc.record({ action: fc.constantFrom('accept', 'decline', 'cancel', 'ACCEPT', '') }),
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: anyJson, model: fc.string() }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.record({ type: fc.constant('text'), text: fc.string() }),
    model: fc.string(),
  }),
  fc.record({ roots: fc.array(fc.record({ uri: fc.constantFrom('file:///', 'https://e.com', '', 'FILE:///') })) }),
)

/** Generates answers of a client. Some resemble valid answers, others have keys that are dangerous for maps. */
export const answers: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: members(fc.oneof(nearlyAnswer, anyJson)) },
  { weight: 3, arbitrary: members(nearlyAnswer) },
  { weight: 1, arbitrary: anyJson },
)

/** Generates valid answers with some missing, of another type, or with other values in their forms. */
function nearlyValid({ validAnswers }: Target): fc.Arbitrary<JsonObject> {
  const second = { original: { action: 'accept', content: { original: 17 } } }
  const entries = Object.entries<JsonObject>({ ...validAnswers, ...second })
  const model = entries.map(([key, answer]) => [
    key,
    fc.oneof(fc.constant(answer), withOtherValues(answer), nearlyAnswer),
  ])
  return fc.record(Object.fromEntries(model), { requiredKeys: [] })
}

function withOtherValues(answer: JsonObject): fc.Arbitrary<JsonObject> {
  const { content } = answer
  if (!isJsonObject(content)) return fc.constant(answer)
  const fields = Object.keys(content).map((field) => [field, scalar])
  return fc.record(Object.fromEntries(fields)).map((changed: JsonObject) => ({ ...answer, content: changed }))
}

/** Generates answers to a target. */
const answersTo = (of: Target): fc.Arbitrary<JsonValue> =>
  fc.oneof({ weight: 1, arbitrary: answers }, { weight: 2, arbitrary: nearlyValid(of) })

/** Generates a target with the answers of one round. */
export const targetWithAnswers: fc.Arbitrary<[Target, JsonValue]> = target.chain((of) =>
  fc.tuple(fc.constant(of), answersTo(of)),
)

/** Generates a target with the answers of several rounds. */
export const targetWithRounds: fc.Arbitrary<[Target, JsonValue[]]> = target.chain((of) =>
  fc.tuple(fc.constant(of), fc.array(answersTo(of), { minLength: 2, maxLength: 6 })),
)

/** The characters of a token, without the dots between its parts. */
export const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** One change to a token. The position is taken modulo the length of the token. */
export interface Alteration {
  readonly kind: 'flip' | 'cut' | 'insert' | 'swap'
  readonly at: number
  readonly by: number
}

/** Generates any change to a token. */
export const alteration: fc.Arbitrary<Alteration> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), by: fc.integer({ min: 1, max: 63 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat(), by: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('insert' as const), at: fc.nat(), by: fc.nat({ max: 63 }) }),
  fc.record({ kind: fc.constant('swap' as const), at: fc.nat(), by: fc.integer({ min: 1, max: 4 }) }),
)

/** Changes a token once. The result may equal the token. */
export function alter(token: string, { kind, at, by }: Alteration): string {
  const position = at % token.length
  const [before, after] = [token.slice(0, position), token.slice(position)]
  if (kind === 'insert') return `${before}${alphabet[by]}${after}`
  if (kind === 'cut') return `${before}${after.slice(by)}`
  if (kind === 'swap') {
    const parts = token.split('.')
    return [...parts.slice(by), ...parts.slice(0, by)].join('.')
  }
  const code = alphabet.indexOf(after[0] ?? '')
  return code < 0 ? `${before}A${after.slice(1)}` : `${before}${alphabet[(code + by) % 64]}${after.slice(1)}`
}
