import { type MeasureOptions, optionsOf, type RatioBenchmark } from './benchmark.ts'
import { type PipedServer, type PipeMeasurement, pipePinning, startPiped } from './stdio/pipe-load.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf, spreadText } from './alternating-rounds.ts'
import { type RatioId, type Reading, readingLine } from './wanted.ts'

interface Row {
  readonly id: RatioId
  readonly inFlight: number
  readonly of: (measurement: PipeMeasurement) => number
  readonly text: (value: number) => string
}

const rows: readonly Row[] = [
  {
    id: 'stdio/p50',
    inFlight: 1,
    of: ({ medianMicroseconds }) => medianMicroseconds,
    text: (value) => `${value.toFixed(0)} us`,
  },
  {
    id: 'stdio/64',
    inFlight: 64,
    of: ({ perSecond }) => perSecond,
    text: (value) => `${Math.round(value).toLocaleString('en')}/s`,
  },
]

/**
 * Compares a server over stdio with a bare process that reads and writes JSON lines.
 *
 * Method: one `tools/call` of an echo tool, about 330 bytes, over the pipes of a child process, with 1 call and with 64
 * calls in flight. The floor splits lines, parses them with `JSON.parse` and answers a fixed text of the same size,
 * with one write per chunk. It checks nothing. The servers alternate within a round, and every other round has the
 * reverse order. A ratio is formed within a round. The report shows the median over the rounds with the smallest and
 * the largest. Not measured: the client, large messages, notifications, the start of a process.
 */
export const stdioBenchmark: RatioBenchmark = { ids: rows.map(({ id }) => id), measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

async function measure({ timing, only, print }: MeasureOptions): Promise<readonly Reading[]> {
  const { rounds, seconds, warmUp, unit } = timing
  const servers: PipedServer[] = []
  try {
    servers.push(await startPiped('floor', 'floor-server.js'), await startPiped('ours', 'our-server.js'))
    print(`tools/call of an echo tool over pipes, Node ${process.version}; ${pipePinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const server of servers) await server.load(64, warmUp, unit)
    const readings: Reading[] = []
    for (const row of rows.filter(({ id }) => only === undefined || only.includes(id))) {
      const measured = await measureRounds(servers, rounds, (server) => server.load(row.inFlight, seconds, unit))
      for (const { name } of servers) print(reportLine(measured, name, row.inFlight))
      readings.push(readingOf(measured, row))
    }
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    for (const server of servers) await server.stop()
  }
}

function readingOf(rounds: readonly Round<PipeMeasurement>[], { id, of, text }: Row): Reading {
  return {
    id,
    value: shareOf(rounds, { name: 'ours', base: 'floor', of }),
    ours: text(medianOf(rounds, 'ours', of)),
    floor: text(medianOf(rounds, 'floor', of)),
    cpu: shareOf(rounds, { name: 'ours', base: 'floor', of: ({ cpuPerCall }) => cpuPerCall }),
  }
}

function reportLine(rounds: readonly Round<PipeMeasurement>[], name: string, inFlight: number): string {
  const medianBy = (of: keyof PipeMeasurement): number => medianOf(rounds, name, (one) => one[of])
  const ratio = (of: keyof PipeMeasurement): number => shareOf(rounds, { name, base: 'floor', of: (one) => one[of] })
  const columns = [
    `${inFlight} in flight`.padStart(12),
    name.padEnd(6),
    `${medianBy('perSecond').toFixed(0)} calls/s`.padStart(15),
    `${medianBy('cpuPerCall').toFixed(1)} us CPU/call`.padStart(18),
    `${(ratio('perSecond') * 100).toFixed(1)} % of the floor`.padStart(22),
    `${ratio('cpuPerCall').toFixed(2)} x its CPU`.padStart(15),
    spreadText(sharesOf(rounds, { name, base: 'floor', of: ({ perSecond }) => perSecond })),
  ]
  if (inFlight === 1) {
    columns.push(
      `p50 ${medianBy('medianMicroseconds').toFixed(0)} us, ${ratio('medianMicroseconds').toFixed(2)} x its p50`,
    )
  }
  return columns.join('  ')
}
