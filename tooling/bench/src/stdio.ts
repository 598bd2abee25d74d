import { median } from './median.ts'
import { type PipedServer, type PipeMeasurement, pipePinning, startPiped } from './stdio/pipe-load.ts'

/**
 * How much of what a process can do with JSON lines is left when it serves MCP over stdio.
 *
 * Method: one `tools/call` of an echo tool, about 330 bytes, over the pipes of a child process; one call at a time, and 64 under
 * way. The floor splits lines, parses them with `JSON.parse` and answers a fixed text of the same size, all of a chunk in one
 * write; it checks nothing. The servers take turns within a round, every other round backwards; a ratio is formed within a round,
 * and the median over the rounds is shown with the smallest and the largest. Not measured: the client, large messages,
 * notifications, the start of a process.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [rounds, seconds, warmUp] = quick ? [3, 1, 2] : [7, 3, 5]
  const servers: PipedServer[] = []
  try {
    for (const name of ['floor', 'our']) servers.push(await startPiped(name, `${name}-server.js`))
    print(`tools/call of an echo tool over pipes, Node ${process.version}; ${pipePinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const server of servers) await server.load(64, warmUp)
    for (const inFlight of [1, 64]) {
      const measured: Round[] = []
      for (let round = 0; round < rounds; round++) measured.push(await measure(servers, { round, inFlight, seconds }))
      report(inFlight, measured)
    }
  } finally {
    for (const server of servers) await server.stop()
  }
}

type Round = ReadonlyMap<string, PipeMeasurement>

interface Plan {
  readonly round: number
  readonly inFlight: number
  readonly seconds: number
}

async function measure(servers: readonly PipedServer[], { round, inFlight, seconds }: Plan): Promise<Round> {
  const measured = new Map<string, PipeMeasurement>()
  for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
    measured.set(server.name, await server.load(inFlight, seconds))
  }
  return measured
}

function report(inFlight: number, rounds: readonly Round[]): void {
  const of = (name: string, key: keyof PipeMeasurement): number[] =>
    rounds.map((round) => round.get(name)?.[key] ?? Number.NaN)
  for (const name of ['floor', 'our']) {
    const shares = of(name, 'perSecond').map((own, index) => own / (of('floor', 'perSecond')[index] ?? Number.NaN))
    const costs = of(name, 'cpuPerCall').map((own, index) => own / (of('floor', 'cpuPerCall')[index] ?? Number.NaN))
    const columns = [
      `${inFlight} in flight`.padStart(12),
      name.padEnd(6),
      `${median(of(name, 'perSecond')).toFixed(0)} calls/s`.padStart(15),
      `${median(of(name, 'cpuPerCall')).toFixed(1)} us CPU/call`.padStart(18),
      `${(median(shares) * 100).toFixed(1)} % of the floor`.padStart(22),
      `${median(costs).toFixed(2)} x its CPU`.padStart(15),
      `(${(Math.min(...shares) * 100).toFixed(1)} to ${(Math.max(...shares) * 100).toFixed(1)} %)`,
    ]
    print(columns.join('  '))
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
