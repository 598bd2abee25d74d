import { type JsonValue, randomKey, sealedState as sealedOnNode, type StateCodec } from '@x/state-codec'
import { bareToken } from './bare-token.ts'
import { type CallTime, timeCalls } from './time-calls.ts'
import { compareTargets, cpuColumn, type RatioBenchmark, type Reading, runBenchmarks, selectRows } from './ratios.ts'

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

interface Measurement extends CallTime {
  readonly pairsPerSecond: number
}

const pairs = { unit: 'pairs/s', of: ({ pairsPerSecond }: Measurement) => pairsPerSecond, digits: 0 }

/**
 * Measures the time to seal a state and to open its token on one thread.
 *
 * Method: the state is a journal of 200 B, of 2 KB, and of the largest size within the default bound, bound to a
 * principal and arguments. The floor is a program on `node:crypto` alone: JSON, AES-256-GCM with a fresh IV, and
 * Base64url, without claims or checks. `portable` is the entry for other runtimes, on Web Crypto. All alternate in
 * short rounds, one operation at a time. Before the measurement each opened value is compared with the sealed one. Not
 * measured: concurrent calls, where Web Crypto may use more threads, and the derivation of keys, once per purpose.
 */
export const codecBenchmark: RatioBenchmark = {
  ids: rows.map(({ id }) => id),
  async measure({ timing, ...options }) {
    const readings: Reading[] = []
    for (const { id, bytes } of selectRows(rows, options)) {
      const targets = await sealsOf(journal(bytes), { isWhole: options.only === undefined })
      for (const seal of targets) await rate(seal, timing.warmUp / 20)
      // One call takes microseconds. Many short rounds lose less to a busy period of the machine than a few long ones.
      const short = { ...timing, rounds: timing.rounds * 3, seconds: timing.seconds / 20 }
      const title = `seal and open ${bytes} B, one at a time`
      const comparison = { title, targets, rows: [{ id }], measure: rate }
      readings.push(
        ...(await compareTargets({ ...comparison, columns: [pairs, cpuColumn] }, { ...options, timing: short })),
      )
    }
    return readings
  },
}

/** Runs the benchmark and prints its report. */
export function run(options: { readonly quick: boolean }): Promise<void> {
  return runBenchmarks([codecBenchmark], options)
}

async function rate({ seal, open }: Seal, seconds: number): Promise<Measurement> {
  const [sealing, opening] = [await timeCalls(seal, seconds / 2), await timeCalls(open, seconds / 2)]
  const elapsed = sealing.elapsed + opening.elapsed
  return { elapsed, pairsPerSecond: 1e6 / elapsed, cpu: sealing.cpu + opening.cpu }
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

/** Returns the floor and ours, and in a whole run the portable entry, because its calls slow the code that they share. */
async function sealsOf(value: JsonValue, { isWhole }: { readonly isWhole: boolean }): Promise<readonly Seal[]> {
  const keys = [randomKey()]
  const token = bareToken.seal(value)
  const floor = { name: 'floor', seal: () => bareToken.seal(value), open: () => bareToken.open(token) }
  const seals = [floor, await sealOf('ours', sealedOnNode({ keys }), value)]
  if (isWhole) seals.push(await sealOf('portable', (await portableEntry()).sealedState({ keys }), value))
  for (const { name, open } of seals)
    if (JSON.stringify(await open()) !== JSON.stringify(value)) throw new Error(`${name} opens another value`)
  return seals
}

async function sealOf(name: string, codec: StateCodec, value: JsonValue): Promise<Seal> {
  const token = await codec.seal(value, claims)
  return { name, seal: () => codec.seal(value, claims), open: () => codec.open(token, claims) }
}

/** Imports the entry for other runtimes than Node. The export conditions of Node never select it. */
async function portableEntry(): Promise<{ readonly sealedState: typeof sealedOnNode }> {
  const node = import.meta.resolve('@x/state-codec')
  // A module that is imported by its URL has no static type. A test proves that both entries have the same type.
  return (await import(node.replace(/node\.(js|ts)$/, 'index.$1'))) as { readonly sealedState: typeof sealedOnNode }
}
