import { journal, type Seal, sealsOf } from './codec/seals.ts'
import { type MeasureOptions, optionsOf, type RatioBenchmark } from './benchmark.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf, spreadText } from './alternating-rounds.ts'
import { type CallTime, timeCalls } from './time-calls.ts'
import { type RatioId, type Reading, readingLine } from './wanted.ts'

interface Row {
  readonly id: RatioId
  readonly title: string
  readonly bytes: number
}

const rows: readonly Row[] = [
  { id: 'codec/200', title: '200 B', bytes: 200 },
  { id: 'codec/2000', title: '2 KB', bytes: 2000 },
  // The largest state whose token fits the default bound.
  { id: 'codec/32768', title: 'the most that fits 32 KiB', bytes: 24_100 },
]

/**
 * Measures the time to seal a state and to open its token on one thread, and the length of the token.
 *
 * Method: the state is a journal of 200 B, of 2 KB, and of the largest size within the default bound. It is bound to a
 * principal and arguments. The floor is a program on `node:crypto` alone: JSON, AES-256-GCM with a fresh IV, and
 * Base64url. After a warm-up all codecs alternate in rounds of a fixed time, one operation at a time. Ratios are formed
 * within a round. Before the measurement each opened value is compared with the sealed one. Not measured: concurrent
 * calls, where Web Crypto may use more threads, and the derivation of keys, which happens once per purpose.
 */
export const codecBenchmark: RatioBenchmark = { ids: rows.map(({ id }) => id), measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

async function measure({ timing, only, print }: MeasureOptions): Promise<readonly Reading[]> {
  // One call takes microseconds. Many short rounds lose less to a busy period of the machine than a few long ones.
  const [rounds, milliseconds] = [timing.rounds * 3, timing.seconds * 50]
  print(`seal and open, one at a time, on one thread, Node ${process.version}`)
  print(`${rounds} alternating rounds of ${milliseconds} ms each; medians; ratios within a round`)
  const readings: Reading[] = []
  for (const { id, title, bytes } of rows.filter((row) => only === undefined || only.includes(row.id))) {
    const seals = await sealsOf(journal(bytes), { peers: only === undefined })
    for (const seal of seals) await rate(seal, timing.warmUp * 50)
    const measured = await measureRounds(seals, rounds, (seal) => rate(seal, milliseconds))
    for (const { name, length } of seals) print(reportLine(measured, name, `${title}, a token of ${length}`))
    readings.push(readingOf(measured, id))
  }
  for (const reading of readings) print(readingLine(reading))
  return readings
}

/** The costs of one call of each. */
interface Cost {
  readonly seal: CallTime
  readonly open: CallTime
}

async function rate({ seal, open }: Seal, milliseconds: number): Promise<Cost> {
  return { seal: await timeCalls(seal, milliseconds / 2), open: await timeCalls(open, milliseconds / 2) }
}

/** Returns the pairs of seal and open per second. */
const pairs = ({ seal, open }: Cost): number => 1e6 / (seal.elapsed + open.elapsed)
const cpu = ({ seal, open }: Cost): number => seal.cpu + open.cpu

function readingOf(rounds: readonly Round<Cost>[], id: RatioId): Reading {
  const text = (name: string): string => `${Math.round(medianOf(rounds, name, pairs)).toLocaleString('en')} pairs/s`
  return {
    id,
    value: shareOf(rounds, { name: 'ours', base: 'floor', of: pairs }),
    ours: text('ours'),
    floor: text('floor'),
    cpu: shareOf(rounds, { name: 'ours', base: 'floor', of: cpu }),
  }
}

function reportLine(rounds: readonly Round<Cost>[], name: string, title: string): string {
  const share = { name, base: 'floor', of: pairs }
  const columns = [
    title.padEnd(44),
    name.padEnd(9),
    `seal ${medianOf(rounds, name, ({ seal }) => seal.elapsed).toFixed(1)} us`.padStart(14),
    `open ${medianOf(rounds, name, ({ open }) => open.elapsed).toFixed(1)} us`.padStart(14),
    `${Math.round(medianOf(rounds, name, pairs)).toLocaleString('en')} pairs/s`.padStart(15),
    `${(shareOf(rounds, share) * 100).toFixed(1)} % of the floor`.padStart(22),
    spreadText(sharesOf(rounds, share)),
  ]
  return columns.join('  ')
}
