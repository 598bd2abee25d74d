import type { Attack } from '../attack.ts'
import { callOf, type Message, rawCallOf, request, validRows } from '../requests.ts'
import type { Attacker } from './attacker.ts'

/** An input whose size the attacker chooses. */
interface CostlyInput {
  readonly name: string
  /** The size of the smaller input. The body of twice this size has fewer than `maxBodyBytes`. */
  readonly size: number
  readonly of: (size: number) => Message
  /** Creates a valid input of this size. Default: rows of texts with the same bytes. */
  readonly valid?: (size: number) => Message
  /** `linear`: rejected, and only its growth is checked, because no JSON Schema can be checked before. */
  readonly outcome: 'rejected' | 'accepted' | 'linear'
}

/** V8 allocates separate pages for a longer string, which adds a step to the cost. */
const maxBodyBytes = 128 * 1024

const objects = (count: number): object[] => Array<object>(count).fill({})
const repeat = (text: string, count: number): string => `${text},`.repeat(count).slice(0, -1)
const bomb = (name: string, rows: (size: number) => unknown): Omit<CostlyInput, 'name' | 'size'> => ({
  of: (size) => callOf(name, { rows: rows(size) }),
  outcome: 'rejected',
})
const withHeader = (name: string, value: string | readonly string[]): Message => {
  const { body, headers } = callOf('echo', { text: 'x' })
  return { body, headers: { ...headers, [name]: value } }
}
const wideObject = (count: number): Message => rawCallOf('echo', `{${keyed(count)}}`)
const wideMeta = (count: number): Message => callOf('echo', { text: 'x' }, { _meta: JSON.parse(`{${keyed(count)}}`) })
const objectsInMeta = (count: number): Message => callOf('echo', { text: 'x' }, { _meta: { rows: objects(count) } })
const keyed = (count: number): string => Array.from({ length: count }, (_, index) => `"key${index}":0`).join()

// Twice the size is below the limit of elements in arguments, so that the inputs reach the validator.
const validationBombs: readonly CostlyInput[] = [
  { name: 'bomb-array', size: 4000, ...bomb('array', objects) },
  { name: 'bomb-record', size: 4000, ...bomb('record', (size) => ({ ...objects(size) })) },
  { name: 'bomb-union', size: 4000, ...bomb('union', objects) },
  { name: 'bomb-nested', size: 2000, ...bomb('nested', (size) => objects(size).map(() => ({ rows: [{}] }))) },
  { name: 'bomb-wrong-types', size: 4000, ...bomb('array', (size) => Array(size).fill(1)) },
  { name: 'bomb-past-elements', size: 20_000, ...bomb('array', objects), valid: objectsInMeta },
  { name: 'bomb-transform', size: 400, ...bomb('transform', objects), outcome: 'linear' },
  { name: 'bomb-defaults', size: 400, ...bomb('defaults', objects), outcome: 'linear' },
]

const jsonShapes: readonly CostlyInput[] = [
  {
    name: 'deep-arrays',
    size: 30_000,
    of: (size) => rawCallOf('echo', '['.repeat(size) + ']'.repeat(size)),
    outcome: 'rejected',
  },
  { name: 'deep-objects', size: 12_000, of: (size) => rawCallOf('echo', '{"a":'.repeat(size)), outcome: 'rejected' },
  // V8 allocates separate pages for an array of more than some 8,000 elements, which adds a step to the cost.
  { name: 'wide-array', size: 3500, of: (size) => rawCallOf('echo', `[${repeat('0', size)}]`), outcome: 'rejected' },
  {
    name: 'duplicate-methods',
    size: 2500,
    of: (size) => ({ ...callOf('echo', {}), body: `{${repeat('"method":"tools/call"', size)}}` }),
    outcome: 'rejected',
  },
  { name: 'wide-object', size: 4500, of: wideObject, valid: wideMeta, outcome: 'rejected' },
  {
    name: 'empty-objects',
    size: 20_000,
    of: (size) => rawCallOf('echo', `[${repeat('{}', size)}]`),
    valid: objectsInMeta,
    outcome: 'rejected',
  },
  {
    name: 'duplicate-keys',
    size: 5000,
    of: (size) => rawCallOf('echo', `{${repeat('"text":"x"', size)}}`),
    // Parsers differ in the member that they use.
    outcome: 'rejected',
  },
  {
    name: 'huge-string',
    size: 60_000,
    of: (size) => callOf('echo', { text: 'x'.repeat(size) }),
    outcome: 'accepted',
  },
  {
    name: 'escaped-string',
    size: 10_000,
    of: (size) => rawCallOf('echo', `{"text":"${'\\u0041'.repeat(size)}"}`),
    outcome: 'accepted',
  },
  {
    name: 'unended-string',
    size: 60_000,
    of: (size) => rawCallOf('echo', `{"text":"${'\\"'.repeat(size / 2)}`),
    outcome: 'rejected',
  },
  {
    name: 'long-number',
    size: 60_000,
    of: (size) => rawCallOf('echo', `{"text":${'9'.repeat(size)}}`),
    outcome: 'rejected',
  },
  { name: 'long-key', size: 60_000, of: (size) => callOf('echo', { ['k'.repeat(size)]: 1 }), outcome: 'rejected' },
  {
    name: 'no-utf-8',
    size: 60_000,
    of: (size) => ({ ...callOf('echo', {}), body: Buffer.alloc(size, 0xff) }),
    outcome: 'rejected',
  },
  {
    name: 'white-space',
    size: 60_000,
    of: (size) => rawCallOf('echo', `{"text":1${' '.repeat(size)}}`),
    outcome: 'rejected',
  },
  {
    name: 'batch',
    size: 4000,
    of: (size) => ({ ...callOf('echo', {}), body: `[${repeat('{"id":1}', size)}]` }),
    outcome: 'rejected',
  },
]

const parts: readonly CostlyInput[] = [
  { name: 'long-tool-name', size: 60_000, of: (size) => callOf('x'.repeat(size), {}), outcome: 'rejected' },
  {
    name: 'long-method',
    size: 60_000,
    of: (size) => ({
      ...callOf('echo', {}),
      body: String(callOf('echo', {}).body).replace('tools/call', 'm'.repeat(size)),
    }),
    outcome: 'rejected',
  },
  {
    name: 'long-cursor',
    size: 60_000,
    of: (size) => request('tools/list', { cursor: 'A'.repeat(size) }),
    outcome: 'rejected',
  },
  {
    name: 'long-state',
    size: 60_000,
    of: (size) => callOf('remove', {}, { requestState: 'A'.repeat(size) }),
    outcome: 'rejected',
  },
  {
    name: 'dotted-state',
    size: 30_000,
    of: (size) => callOf('remove', {}, { requestState: 'A.'.repeat(size) }),
    outcome: 'rejected',
  },
  {
    name: 'long-uri',
    size: 60_000,
    of: (size) => request('resources/read', { uri: `other:${'/'.repeat(size)}` }),
    outcome: 'rejected',
  },
  {
    name: 'matching-uri',
    size: 60_000,
    of: (size) => request('resources/read', { uri: `file:///${'a/'.repeat(size / 2)}` }),
    outcome: 'rejected',
  },
  {
    name: 'percent-uri',
    size: 60_000,
    of: (size) => request('resources/read', { uri: `file:///${'%'.repeat(size)}` }),
    outcome: 'rejected',
  },
  {
    name: 'many-answers',
    size: 1200,
    of: (size) =>
      callOf('remove', {}, { inputResponses: { ...Array<object>(size).fill({ action: 'accept', content: {} }) } }),
    outcome: 'rejected',
  },
  {
    name: 'many-wrong-answers',
    size: 4000,
    of: (size) => callOf('remove', {}, { inputResponses: { ...objects(size) } }),
    outcome: 'rejected',
  },
  {
    name: 'many-unknown-params',
    size: 4000,
    of: (size) => callOf('echo', { text: 'x' }, { ...Array(size).fill(0) }),
    outcome: 'accepted',
  },
  {
    name: 'many-unknown-meta',
    size: 4000,
    of: (size) => callOf('echo', { text: 'x' }, { _meta: { ...Array(size).fill(0) } }),
    outcome: 'accepted',
  },
]

const headerValues: readonly CostlyInput[] = [
  {
    name: 'long-header',
    size: 6000,
    of: (size) => withHeader('mcp-name', '='.repeat(size)),
    outcome: 'rejected',
  },
  {
    name: 'base64-header',
    size: 5000,
    of: (size) => withHeader('mcp-name', `=?base64?${'QUFB'.repeat(size / 4)}?=`),
    outcome: 'rejected',
  },
  {
    name: 'many-accepts',
    size: 3000,
    of: (size) => withHeader('accept', `${'a/b,'.repeat(size / 4)}application/json, text/event-stream`),
    outcome: 'accepted',
  },
  {
    name: 'spaced-content-type',
    size: 3000,
    of: (size) => withHeader('content-type', `application/json;${' '.repeat(size)}x`),
    outcome: 'accepted',
  },
  {
    name: 'many-headers',
    size: 100,
    of: (size) => withHeader('x-many', Array<string>(size).fill('v')),
    outcome: 'accepted',
  },
  {
    name: 'many-custom-headers',
    size: 400,
    of: (size) => withHeader('mcp-param-x', Array<string>(size).fill('v')),
    outcome: 'accepted',
  },
]

/** Attacks with one input. Its cost is compared with the cost of half the size and with that of a valid input. */
export const costlyInputs = {
  'validation bombs': validationBombs.map(attackBy),
  'shapes of JSON': jsonShapes.map(attackBy),
  'parts of requests': parts.map(attackBy),
  headers: headerValues.map(attackBy),
}

function attackBy({ name, size, of, outcome, valid: compared }: CostlyInput): Attack<Attacker> {
  // Each message is created once, because to create it takes longer than to send it.
  const made = new Map<string, Message>()
  const once = (key: string, make: () => Message): Message => {
    const message = made.get(key) ?? make()
    if (Buffer.byteLength(message.body) >= maxBodyBytes) throw new RangeError(`the ${key} of ${name} is too long`)
    made.set(key, message)
    return message
  }
  const input = (units: number): Message => once(`input ${units}`, () => of(units))
  const valid = (units: number): Message =>
    once(`valid ${units}`, () => compared?.(units) ?? rowsOf(Buffer.byteLength(input(units).body)))
  return {
    name,
    cost: {
      size,
      send: (peer, units) => sendAs(peer, input(units), outcome !== 'accepted'),
      ...(outcome === 'rejected' && { sendValid: (peer, units) => sendAs(peer, valid(units), false) }),
    },
  }
}

function rowsOf(bytes: number): Message {
  return callOf('array', { rows: validRows(bytes) })
}

async function sendAs(peer: Attacker, message: Message, rejected: boolean): Promise<void> {
  const { status, body } = await peer.send(message)
  const isRejected = status >= 400 || body['error'] !== undefined || JSON.stringify(body).includes('"isError":true')
  if (isRejected === rejected) return
  const excerpt = JSON.stringify(body).slice(0, 300)
  throw new Error(`the input was ${rejected ? 'accepted' : 'rejected'}, with status ${status}: ${excerpt}`)
}
