import { median } from '../median.ts'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import type { DriveAnswer, DriveQuestion } from './drive.ts'

type Client = PinnedProcess<DriveQuestion, DriveAnswer>
type Round = ReadonlyMap<string, DriveAnswer>

const names = ['bare', 'our', 'peer'] as const
const labels: Readonly<Record<(typeof names)[number], string>> = { bare: 'undici', our: 'ours', peer: 'official' }

/** Measures how many calls a second a client makes of one core, against bare undici, and beside the official SDK. */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [rounds, seconds, warmUp] = quick ? [3, 1, 2] : [7, 3, 5]
  const server: PinnedProcess<ServerQuestion, ServerAnswer> = await startPinned('client/echo-server.js', 0)
  const clients = new Map<string, Client>()
  try {
    const { url = '' } = await server.ask({ ask: 'url' })
    for (const name of names) clients.set(name, await startPinned(`client/${name}-client.js`, 1))
    print(`tools/call of an echo tool by a client, Node ${process.version}; ${pinning}`)
    print(`${rounds} alternating rounds of ${seconds} s each; medians; ratios within a round`)
    for (const client of clients.values()) await client.ask({ url, inFlight: 16, seconds: warmUp })
    for (const inFlight of [1, 16]) {
      const measured: Round[] = []
      for (let round = 0; round < rounds; round++)
        measured.push(await measure(clients, { url, inFlight, seconds }, round))
      for (const name of names) print(reportLine(name, inFlight, measured))
    }
  } finally {
    for (const child of [server, ...clients.values()]) await child.stop()
  }
}

async function measure(clients: ReadonlyMap<string, Client>, question: DriveQuestion, round: number): Promise<Round> {
  const measured = new Map<string, DriveAnswer>()
  const order = [...clients]
  for (const [name, client] of round % 2 === 0 ? order : order.toReversed()) {
    measured.set(name, await client.ask(question))
  }
  return measured
}

function reportLine(name: (typeof names)[number], inFlight: number, rounds: readonly Round[]): string {
  const of = (who: string, key: keyof DriveAnswer): number[] =>
    rounds.map((round) => round.get(who)?.[key] ?? Number.NaN)
  const shares = of(name, 'perSecond').map((own, index) => own / (of('bare', 'perSecond')[index] ?? Number.NaN))
  const columns = [
    `${inFlight} in flight`.padStart(12),
    labels[name].padEnd(8),
    `${median(of(name, 'perSecond')).toFixed(0)} calls/s`.padStart(14),
    `${median(of(name, 'cpuPerCall')).toFixed(1)} us CPU/call`.padStart(18),
    `${(median(shares) * 100).toFixed(1)} % of undici`.padStart(18),
    `(${(Math.min(...shares) * 100).toFixed(1)} to ${(Math.max(...shares) * 100).toFixed(1)} %)`,
  ]
  return columns.join('  ')
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
