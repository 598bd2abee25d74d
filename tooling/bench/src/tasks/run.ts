import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fullPlan, measureStore, type Plan, quickPlan, warmUpPlan } from './measure-store.ts'
import { memoryTaskStore, type Store, type StorePlan, stores } from './stores.ts'

/**
 * Measures tasks for each engine: tasks per second, the time until handlers begin and continue, and the cost of a call
 * that creates a task. It compares them with pg-boss alone over the same database.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const plan = quick ? quickPlan : fullPlan
  const { rounds, load, concurrencies } = plan
  print(`tasks, Node ${process.version}: clients, server and worker in this process, PostgreSQL on the same cores`)
  print(`${rounds} alternating rounds; ${load.count} tasks by ${load.clients} clients; medians; ratios within a round`)
  print(
    `at most ${concurrencies.join(' or ')} tasks at once per worker; ${concurrencies[0]} unless a line states another limit`,
  )
  const stopping = stopOnSignals()
  const folder = temporaryFolder()
  try {
    // Under root the PostgreSQL server runs as another user, which must be able to read the folder.
    await chmod(folder.path, 0o755)
    for await (const line of measureStore(memoryTaskStore(), warmUpPlan)) void line
    for (const store of stores) await measureOpened(store, folder.path, { ...plan, signal: stopping.signal })
  } catch (error) {
    // Errors are expected while the databases stop.
    if (!stopping.signal.aborted) throw error
    process.stderr.write('the benchmark was stopped: the report is incomplete\n')
    process.exitCode = 1
  } finally {
    folder.remove()
    stopping.close()
  }
}

async function measureOpened(storePlan: StorePlan, folder: string, plan: Plan): Promise<void> {
  print(`\n${storePlan.name}`)
  const store = await opened(storePlan, folder)
  if (store === undefined) return
  try {
    for await (const line of measureStore(store, plan)) print(line)
  } finally {
    await store.close()
  }
}

async function opened({ name, open }: StorePlan, folder: string): Promise<Store | undefined> {
  try {
    return await open(folder)
  } catch (error) {
    print(`  not measured: ${name} did not start on this machine (${String(error)})`)
    return undefined
  }
}

/** Creates a temporary folder, which is removed at the latest when this process exits. */
function temporaryFolder(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'bench-tasks-'))
  const removeNow = (): void => rmSync(path, { recursive: true, force: true })
  process.once('exit', removeNow)
  return {
    path,
    remove: () => {
      process.off('exit', removeNow)
      removeNow()
    },
  }
}

/** Returns a signal that aborts on SIGINT and SIGTERM, so that the benchmark stops its databases. */
function stopOnSignals(): { readonly signal: AbortSignal; readonly close: () => void } {
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return { signal: controller.signal, close: () => void process.off('SIGINT', stop).off('SIGTERM', stop) }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
