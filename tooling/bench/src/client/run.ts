import { type MeasureOptions, optionsOf, type RatioBenchmark } from '../benchmark.ts'
import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf, spreadText } from '../alternating-rounds.ts'
import { type RatioId, type Reading, readingLine } from '../wanted.ts'
import type { CallLoadAnswer, CallLoadQuestion } from './call-load.ts'

interface Client extends PinnedProcess<CallLoadQuestion, CallLoadAnswer> {
  readonly name: string
}

const programs = { undici: 'bare', ours: 'our', official: 'peer' } as const
const rows: readonly { readonly id: RatioId; readonly inFlight: number }[] = [
  { id: 'client/1', inFlight: 1 },
  { id: 'client/16', inFlight: 16 },
]

/** Compares the calls per second of a client on one core with bare undici, and with the official SDK. */
export const clientBenchmark: RatioBenchmark = { ids: rows.map(({ id }) => id), measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

async function measure({ timing, only, print }: MeasureOptions): Promise<readonly Reading[]> {
  const { rounds, seconds, warmUp } = timing
  const server: PinnedProcess<ServerQuestion, ServerAnswer> = await startPinned('client/echo-server.js', 0)
  const clients: Client[] = []
  try {
    const { url = '' } = await server.ask({ ask: 'url' })
    for (const [name, program] of Object.entries(programs)) {
      const child: PinnedProcess<CallLoadQuestion, CallLoadAnswer> = await startPinned(`client/${program}-client.js`, 1)
      clients.push({ name, ...child })
    }
    print(`tools/call of an echo tool by a client, Node ${process.version}; ${pinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const client of clients) await client.ask({ url, inFlight: 16, seconds: warmUp })
    const readings: Reading[] = []
    for (const { id, inFlight } of rows.filter((row) => only === undefined || only.includes(row.id))) {
      const measured = await measureRounds(clients, rounds, (client) => client.ask({ url, inFlight, seconds }))
      for (const { name } of clients) print(reportLine(measured, name, inFlight))
      readings.push(readingOf(measured, id))
    }
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    for (const child of [server, ...clients]) await child.stop()
  }
}

const perSecond = (answer: CallLoadAnswer): number => answer.perSecond

function readingOf(rounds: readonly Round<CallLoadAnswer>[], id: RatioId): Reading {
  const rate = (name: string): string => `${Math.round(medianOf(rounds, name, perSecond)).toLocaleString('en')}/s`
  return {
    id,
    value: shareOf(rounds, { name: 'ours', base: 'undici', of: perSecond }),
    ours: rate('ours'),
    floor: rate('undici'),
    peer: shareOf(rounds, { name: 'official', base: 'undici', of: perSecond }),
  }
}

function reportLine(rounds: readonly Round<CallLoadAnswer>[], name: string, inFlight: number): string {
  const share = { name, base: 'undici', of: perSecond }
  const columns = [
    `${inFlight} in flight`.padStart(12),
    name.padEnd(8),
    `${medianOf(rounds, name, perSecond).toFixed(0)} calls/s`.padStart(14),
    `${medianOf(rounds, name, ({ cpuPerCall }) => cpuPerCall).toFixed(1)} us CPU/call`.padStart(18),
    `${(shareOf(rounds, share) * 100).toFixed(1)} % of undici`.padStart(18),
    spreadText(sharesOf(rounds, share)),
  ]
  return columns.join('  ')
}
