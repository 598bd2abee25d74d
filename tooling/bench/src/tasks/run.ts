import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fullPlan, measureStore, type Plan, quickPlan, warmUpPlan } from './measure-store.ts'
import { memoryStore, type Store, type StorePlan, stores } from './stores.ts'

/**
 * What tasks cost, engine by engine: how many a second, how long until their handlers begin and go on, beside pg-boss
 * alone over the same database, and what a call costs that becomes a task.
 */
export async function run({ quick }: { readonly quick: boolean }): Promise<void> {
  const plan = quick ? quickPlan : fullPlan
  const { rounds, load, concurrencies } = plan
  print(
    `tasks, Node ${process.version}: clients, server and worker in this process, PostgreSQL beside it on the same cores`,
  )
  print(`${rounds} alternating rounds; ${load.count} tasks by ${load.clients} clients; medians; ratios within a round`)
  print(`at most ${concurrencies.join(' or ')} worked on at once, and ${concurrencies[0]} where nothing else is said`)
  const stopping = stopOnSignals()
  const folder = temporaryFolder()
  try {
    // The server of PostgreSQL runs as another user than a root that made the folder.
    await chmod(folder.path, 0o755)
    for await (const line of measureStore(memoryStore(), warmUpPlan)) void line
    for (const store of stores) await measureOpened(store, folder.path, { ...plan, signal: stopping.signal })
  } catch (error) {
    // What fails while a database is going away is no news.
    if (!stopping.signal.aborted) throw error
    process.stderr.write('the benchmark was stopped: what it printed is all there is\n')
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

/** A folder that is gone with this process at the latest, also where somebody else ends it. */
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

/** A signal that aborts when the process is asked to end: what is under way is then cleared away. */
function stopOnSignals(): { readonly signal: AbortSignal; readonly close: () => void } {
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return { signal: controller.signal, close: () => void process.off('SIGINT', stop).off('SIGTERM', stop) }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
