import { findFreePort } from '@tooling/real-servers/free-port'
import { startRedis } from '@tooling/real-servers/redis'
import { type MeasureOptions, optionsOf, type RatioBenchmark } from '../benchmark.ts'
import type { ServerAnswer, ServerQuestion } from '../http/answer-questions.ts'
import { type PinnedProcess, pinning, startPinned } from '../pinned-process.ts'
import { measureRounds, medianOf, type Round, shareOf, sharesOf, spreadText } from '../alternating-rounds.ts'
import { type RatioId, type Reading, readingLine } from '../wanted.ts'
import { seedRedis } from './seed-redis.ts'
import type { SessionLoadAnswer, SessionLoadQuestion } from './session-load.ts'
import { copyExample } from './shop.ts'

interface Target {
  readonly name: string
  readonly program: string
  readonly form: SessionLoadQuestion['form']
}

const targets: readonly Target[] = [
  { name: 'floor', program: 'workload/floor-server.js', form: 'sessions' },
  { name: 'ours', program: 'workload/our-server.js', form: 'sessions' },
  { name: 'official v1', program: 'workload/official-v1-server.js', form: 'sessions' },
  { name: 'official v2', program: 'workload/official-v2-server.js', form: 'sessions' },
  { name: 'floor, 2026-07-28', program: 'workload/floor-server.js', form: 'requests' },
  { name: 'ours, 2026-07-28', program: 'workload/our-server.js', form: 'requests' },
]

interface RatioRow {
  readonly id: RatioId
  readonly name: string
  readonly base: string
}

const rows: readonly RatioRow[] = [
  { id: 'workload/2025-06-18', name: 'ours', base: 'floor' },
  { id: 'workload/2026-07-28', name: 'ours, 2026-07-28', base: 'floor, 2026-07-28' },
]

/** The measurement of a server in one round. */
interface Measurement {
  readonly callsPerSecond: number
  readonly requestsPerCall: number
  /** Microseconds of CPU that the process of the server uses per call, with all requests of its session. */
  readonly cpuPerCall: number
  readonly residentBytes: number
}

/**
 * Runs the workload of the public benchmark of MCP servers, and compares servers with a bare `node:http` server.
 *
 * Method: 50 users alternate between three tools, which read and write Redis and an HTTP service. Each call has its own
 * session: `initialize`, `notifications/initialized`, `tools/call`, `DELETE`. The servers run on one core. The load,
 * Redis and the service run on the other. Each response is checked. Not measured: several processes of one server.
 */
export const workloadBenchmark: RatioBenchmark = { ids: rows.map(({ id }) => id), measure }

/** Runs the benchmark and prints its report. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await measure(optionsOf(options))
}

type Load = PinnedProcess<SessionLoadQuestion, SessionLoadAnswer>

interface Server extends Target {
  readonly url: string
  readonly process: PinnedProcess<ServerQuestion, ServerAnswer>
}

async function measure({ timing, only, print }: MeasureOptions): Promise<readonly Reading[]> {
  const selected = only === undefined ? rows : rows.filter(({ id }) => only.includes(id))
  const needed =
    only === undefined ? targets : targets.filter(({ name }) => selected.some((row) => isComparedIn(row, name)))
  await using services = await startServices()
  const load: Load = await startPinned('workload/session-load.js', 1)
  const servers: Server[] = []
  try {
    for (const target of needed) servers.push(await startTarget(target, services.environment))
    print(`calls of three tools by 50 users, Node ${process.version}; ${pinning}`)
    print(`${timing.rounds} alternating rounds of ${timing.seconds} s each; medians; ratios within a round`)
    for (const server of servers) await measureOne(load, server, timing.warmUp)
    const measured = await measureRounds(servers, timing.rounds, (server) => measureOne(load, server, timing.seconds))
    for (const { name } of servers) print(reportLine(measured, name))
    const readings = selected.map((row) => readingOf(measured, row))
    for (const reading of readings) print(readingLine(reading))
    return readings
  } finally {
    await Promise.all([load.stop(), ...servers.map(({ process: server }) => server.stop())])
  }
}

function isComparedIn({ name, base }: RatioRow, target: string): boolean {
  return target === name || target === base
}

async function startTarget(target: Target, environment: NodeJS.ProcessEnv): Promise<Server> {
  const server = await startPinned<ServerQuestion, ServerAnswer>(target.program, 0, environment)
  const { url = '' } = await server.ask({ ask: 'url' })
  return { ...target, url, process: server }
}

/** Redis with the data of the workload, and the product service. */
interface Services extends AsyncDisposable {
  /** The environment variables with the URLs of the services. */
  readonly environment: NodeJS.ProcessEnv
}

async function startServices(): Promise<Services> {
  await copyExample()
  const port = await findFreePort()
  // The last two arguments replace the settings that make Redis store every write on the disk.
  const redis = await startRedis('redis-server', ['--port', String(port), '--appendonly', 'no'])
  const products = await startPinned<ServerQuestion, ServerAnswer>('workload/products-service.js', 1)
  await seedRedis(redis.path)
  const { url = '' } = await products.ask({ ask: 'url' })
  return {
    environment: { REDIS_URL: `redis://127.0.0.1:${port}`, API_SERVICE_URL: new URL(url).origin },
    async [Symbol.asyncDispose]() {
      await Promise.all([products.stop(), redis.close()])
    },
  }
}

async function measureOne(
  load: Load,
  { name, form, url, process: server }: Server,
  seconds: number,
): Promise<Measurement> {
  const before = await server.ask({ ask: 'cpu' })
  const { calls, requests, failure } = await load.ask({ url, form, seconds })
  const { cpuMicroseconds = 0, residentBytes = 0 } = await server.ask({ ask: 'cpu' })
  if (failure !== undefined) throw new Error(`The ${name} server is wrong: ${failure}`)
  return {
    callsPerSecond: calls / seconds,
    requestsPerCall: requests / calls,
    cpuPerCall: (cpuMicroseconds - (before.cpuMicroseconds ?? 0)) / calls,
    residentBytes,
  }
}

const cpuOf = ({ cpuPerCall }: Measurement): number => cpuPerCall

function reportLine(rounds: readonly Round<Measurement>[], name: string): string {
  const ratio = shareOf(rounds, { name, base: 'floor', of: cpuOf })
  const columns = [
    name.padEnd(17),
    `${medianOf(rounds, name, ({ requestsPerCall }) => requestsPerCall).toFixed(0)} requests`,
    `${medianOf(rounds, name, ({ callsPerSecond }) => callsPerSecond).toFixed(0)} calls/s`.padStart(14),
    `${medianOf(rounds, name, cpuOf).toFixed(0)} us CPU/call`.padStart(17),
    `${ratio.toFixed(2)} x that of the floor ${spreadText(sharesOf(rounds, { name, base: 'floor', of: cpuOf }))}`,
    `${(medianOf(rounds, name, ({ residentBytes }) => residentBytes) / 1e6).toFixed(0)} MB`,
  ]
  return columns.join('  ')
}

function readingOf(rounds: readonly Round<Measurement>[], { id, name, base }: RatioRow): Reading {
  const text = (target: string): string => `${medianOf(rounds, target, cpuOf).toFixed(0)} us`
  return { id, value: shareOf(rounds, { name, base, of: cpuOf }), ours: text(name), floor: text(base) }
}
