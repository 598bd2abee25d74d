import { type ErrorListener, errorListener } from '@x/schema'
import type { EngineListener, TaskEngine } from '../engine.ts'
import { claimTasks } from './claim-tasks.ts'
import { createTask } from './create-task.ts'
import { engineNotifications } from './engine-notifications.ts'
import { openQueue } from './job-queue.ts'
import { finishTask, recordProgress, releaseTask, renewLeases, suspendTask } from './lease-writes.ts'
import { answerTask, cancelOwned, inspectTask, readTask } from './owner-requests.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SqlStore } from './sql-store.ts'
import { migrate, tablesIn } from './tables.ts'

/** The options of all engines over SQL. */
export interface SqlEngineOptions {
  /** The schema with the tables; a second one, with `_jobs` behind its name, has the queue. `mcp_tasks` when absent. */
  readonly schema?: string | undefined
  /** For how many milliseconds a claim is good; 10,000 when absent. */
  readonly leaseMs?: number | undefined
  /** Receives failures in the background; a line of `console.error` when absent, `false` for none. */
  readonly onError?: ErrorListener<[error: unknown]>
}

/** An engine over a database that is opened when it is first used; what could not be opened is tried again the next time. */
export function sqlEngine(openDatabase: () => Promise<SqlDatabase>, options: SqlEngineOptions): TaskEngine {
  const leaseMs = checkedLease(options.leaseMs ?? 10_000)
  const tables = tablesIn(options.schema ?? 'mcp_tasks')
  const settings = { leaseMs, tables, onError: errorListener(options.onError, '@x/tasks') }
  let opening: Promise<SqlStore> | undefined
  const listening = new Set<() => void>()
  let closing: Promise<void> | undefined

  const open = (): Promise<SqlStore> => {
    if (closing !== undefined)
      return Promise.reject(new Error('The engine was closed: nothing is asked of it after that'))
    opening ??= openStore(openDatabase, settings).catch((error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const listenOnce = async (begun: Promise<() => void>): Promise<() => void> => {
    const stop = await begun
    const stopOnce = (): void => void (listening.delete(stopOnce) && stop())
    listening.add(stopOnce)
    return stopOnce
  }
  return {
    leaseMs,
    notifications: {
      publish: async (change) => (await open()).notifications.publish(change),
      listen: async (listener) => listenOnce((await open()).notifications.listen(listener)),
    },
    create: async (task) => createTask(await open(), task),
    get: async (id, owner) => readTask(await open(), id, owner),
    answer: async (answers) => answerTask(await open(), answers),
    cancel: async (id, owner) => cancelOwned(await open(), id, owner),
    claim: async (most) => claimTasks(await open(), most),
    heartbeat: async (leases) => renewLeases(await open(), leases),
    record: async (lease, progress) => recordProgress(await open(), lease, progress),
    suspend: async (lease, suspension) => suspendTask(await open(), lease, suspension),
    release: async (lease, given) => releaseTask(await open(), lease, given),
    finish: async (lease, end) => finishTask(await open(), lease, end),
    sweep: async () => sweepRows(await open()),
    listen: async (listener) => listenOnce(listenToDatabase(await open(), listener)),
    inspect: async (id) => inspectTask(await open(), id),
    ping: async () => void (await (await open()).database.query('SELECT 1')),
    close: () => {
      closing ??= closeStore(opening, listening)
      return closing
    },
  }
}

/** Ends what goes on in the background, then lets go of the database: a pool waits for what is in use. */
async function closeStore(opening: Promise<SqlStore> | undefined, listening: ReadonlySet<() => void>): Promise<void> {
  const store = await opening?.catch(() => undefined)
  for (const stop of listening) stop()
  await store?.notifications.sent()
  await store?.queue.close()
  await store?.database.close()
}

type StoreSettings = Pick<SqlStore, 'leaseMs' | 'tables'> & { readonly onError: (error: unknown) => void }

async function openStore(openDatabase: () => Promise<SqlDatabase>, settings: StoreSettings): Promise<SqlStore> {
  const { leaseMs, tables, onError } = settings
  const database = await openDatabase()
  try {
    await migrate(database, tables)
    const queue = await openQueue(database, { schema: `${tables.schema}_jobs`, onError })
    const notifications = engineNotifications(database.bus)
    // Nobody waits for the others to be told, for what is written counts.
    const notify = (topic: string): void => void notifications.notify(topic).catch(onError)
    return {
      database,
      queue,
      tables,
      leaseMs,
      notifications,
      wake: () => notify(workTopic),
      tellCancel: (id) => notify(`${cancelTopic}${id}`),
    }
  } catch (error) {
    await database.close().catch(onError)
    throw error
  }
}

const workTopic = 'work'
const cancelTopic = 'cancel:'

function listenToDatabase({ database }: SqlStore, { onWork, onCancel }: EngineListener): Promise<() => void> {
  return database.bus.listen({
    onChange: ({ topic }) => {
      if (topic === workTopic) onWork()
      else if (topic.startsWith(cancelTopic)) onCancel(topic.slice(cancelTopic.length))
    },
    // What is to be cancelled is told with the next heartbeat as well.
    onGap: () => onWork(),
  })
}

/** As many as are deleted at once, so that nobody waits long for a row. */
const sweptAtOnce = 5000

/** Deletes what has expired; journal and answers go with their task, and a job is dropped by whoever takes it. */
async function sweepRows({ database, tables }: SqlStore): Promise<number> {
  const rows = await database.query(
    `WITH expired AS (
      SELECT id FROM ${tables.task} WHERE expires_at <= statement_timestamp() ORDER BY expires_at LIMIT ${sweptAtOnce} FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM ${tables.task} AS swept USING expired WHERE swept.id = expired.id RETURNING 1
    )
    SELECT count(*)::integer AS deleted FROM deleted`,
  )
  return Number(rows[0]?.['deleted'])
}

function checkedLease(leaseMs: number): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs >= 1) return leaseMs
  throw new RangeError(`leaseMs is ${leaseMs}; write a whole number of milliseconds from 1`)
}
