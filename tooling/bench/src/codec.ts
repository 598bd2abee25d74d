import { type JsonValue, randomKey, sealedState as sealedOnNode, type StateCodec } from '@x/state-codec'
import { bareToken } from './bare-token.ts'
import { type CallTime, timeCalls } from './time-calls.ts'
import { cpuColumn, type MeasureTime, type RatioBenchmark, ratioBenchmark } from './ratios.ts'

const rows = [
  { id: 'codec/200', bytes: 200 },
  { id: 'codec/2000', bytes: 2000 },
  // The largest state whose token fits the default bound.
  { id: 'codec/32768', bytes: 24_100 },
] as const

/** A codec under measurement, with one value to seal and its token to open. */
interface Seal {
  readonly name: string
  readonly seal: () => unknown
  readonly open: () => unknown
}

const pairs = { unit: 'pairs/s', of: ({ elapsed }: CallTime) => 1e6 / elapsed, digits: 0 }

async function measurePair({ seal, open }: Seal, { seconds }: MeasureTime): Promise<CallTime> {
  const [sealing, opening] = [await timeCalls(seal, seconds / 2), await timeCalls(open, seconds / 2)]
  return { elapsed: sealing.elapsed + opening.elapsed, cpu: sealing.cpu + opening.cpu }
}

const claims = {
  purpose: 'tools/call',
  binding: { principal: 'ada', method: 'tools/call', target: 'update_work_item', arguments: { id: 4522 } },
}

/** Returns a journal with a given length as JSON, filled with random letters. */
function journal(bytes: number): JsonValue {
  const withNote = (note: string) => ({ answers: { resolution: { action: 'accept', content: { note } } }, steps: {} })
  const letters = randomKey().repeat(Math.ceil(bytes / 64))
  return withNote(letters.slice(0, bytes - JSON.stringify(withNote('')).length))
}

type Claims = Parameters<StateCodec['seal']>[1]

interface Codec {
  seal(value: JsonValue, claims: Claims): string | Promise<string>
  open(token: string, claims: Claims): unknown
}

const keys = [randomKey()]

/** The portable entry is a peer, which no gate measures, because its calls slow the code that they share. */
const codecs: readonly (readonly [name: string, create: () => Codec | Promise<Codec>])[] = [
  ['floor', () => bareToken],
  ['ours', () => sealedOnNode({ keys })],
  ['portable', async () => (await portableEntry()).sealedState({ keys })],
]

async function startCodec(name: string, codec: Codec, value: JsonValue): Promise<Seal> {
  const token = await codec.seal(value, claims)
  if (JSON.stringify(await codec.open(token, claims)) !== JSON.stringify(value))
    throw new Error(`${name} opens another value`)
  return { name, seal: () => codec.seal(value, claims), open: () => codec.open(token, claims) }
}

/** Imports the entry for other runtimes than Node. The export conditions of Node never select it. */
async function portableEntry(): Promise<{ readonly sealedState: typeof sealedOnNode }> {
  const node = import.meta.resolve('@x/state-codec')
  // A module that is imported by its URL has no static type. A test proves that both entries have the same type.
  return (await import(node.replace(/node\.(js|ts)$/, 'index.$1'))) as { readonly sealedState: typeof sealedOnNode }
}

/**
 * Measures the time to seal a state and to open its token on one thread.
 *
 * Method: the state is a journal of 200 B, of 2 KB, and of the largest size within the default bound, bound to a
 * principal and arguments. The floor is a program on `node:crypto` alone: JSON, AES-256-GCM with a fresh IV, and
 * Base64url, without claims or checks. `portable` is the entry for other runtimes, on Web Crypto. All alternate in
 * short rounds, one operation at a time. Before the measurement each opened value is compared with the sealed one. Not
 * measured: concurrent calls, where Web Crypto may use more threads, and the derivation of keys, once per purpose.
 */
export const ratios: readonly RatioBenchmark[] = rows.map(({ id, bytes }) => {
  const value = journal(bytes)
  const title = `seal and open ${bytes} B, one at a time`
  return ratioBenchmark({
    targets: codecs.map(([name, create]) => ({ name, start: async () => startCodec(name, await create(), value) })),
    passes: [{ title, rows: [{ id }], columns: [pairs, cpuColumn], measure: measurePair }],
    parts: { round: 20, warmUp: 10 },
  })
})
