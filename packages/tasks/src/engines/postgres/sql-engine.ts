import { type ErrorListener, errorListener } from '@x/core'
import type { EngineListener, TaskEngine } from '../engine.ts'
import { claimTasks } from './claim-tasks.ts'
import { createTask } from './create-task.ts'
import { createEngineNotifications } from './engine-notifications.ts'
import { openQueue } from './job-queue.ts'
import { finishTask, recordProgress, releaseTask, renewLeases, suspendTask } from './lease-writes.ts'
import { answerTask, cancelOwnedTask, inspectTask, readTask } from './owner-requests.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SqlStore } from './sql-store.ts'
import { migrateTables, tableNamesIn } from './tables.ts'

/** The options of all engines over SQL. */
export interface SqlEngineOptions {
  /** The schema with the tables. A second one, with `_jobs` behind its name, has the queue. `mcp_tasks` when absent. */
  readonly schema?: string | undefined
  /** For how many milliseconds a claim is good. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /** Receives failures in the background. A line of `console.error` when absent, `false` for none. */
  readonly onError?: ErrorListener<[error: unknown]>
}

/**
 * An engine over a database that is opened when it is first used. What could not be opened is tried again the next
 * time.
 */
export function sqlEngine(openDatabase: () => Promise<SqlDatabase>, options: SqlEngineOptions): TaskEngine {
  const leaseMs = requireLeaseMs(options.leaseMs ?? 10_000)
  const tables = tableNamesIn(options.schema ?? 'mcp_tasks')
  const settings = { leaseMs, tables, onError: errorListener(options.onError, '@x/tasks') }
  let storePromise: Promise<SqlStore> | undefined
  const stopFunctions = new Set<() => void>()
  let closePromise: Promise<void> | undefined

  const getStore = (): Promise<SqlStore> => {
    if (closePromise !== undefined)
      return Promise.reject(new Error('The engine was closed: nothing is asked of it after that'))
    storePromise ??= openStore(openDatabase, settings).catch((error: unknown) => {
      storePromise = undefined
      throw error
    })
    return storePromise
  }
  const registerListener = async (stopFunctionPromise: Promise<() => void>): Promise<() => void> => {
    const stop = await stopFunctionPromise
    const stopOnce = (): void => void (stopFunctions.delete(stopOnce) && stop())
    stopFunctions.add(stopOnce)
    return stopOnce
  }
  return {
    leaseMs,
    notifications: {
      publish: async (change) => (await getStore()).notifications.publish(change),
      listen: async (listener) => registerListener((await getStore()).notifications.listen(listener)),
    },
    create: async (task) => createTask(await getStore(), task),
    get: async (id, owner) => readTask(await getStore(), id, owner),
    answer: async (answers) => answerTask(await getStore(), answers),
    cancel: async (id, owner) => cancelOwnedTask(await getStore(), id, owner),
    claim: async (maxClaims) => claimTasks(await getStore(), maxClaims),
    heartbeat: async (leases) => renewLeases(await getStore(), leases),
    record: async (lease, progress) => recordProgress(await getStore(), lease, progress),
    suspend: async (lease, suspension) => suspendTask(await getStore(), lease, suspension),
    release: async (lease, taskRelease) => releaseTask(await getStore(), lease, taskRelease),
    finish: async (lease, taskEnd) => finishTask(await getStore(), lease, taskEnd),
    deleteExpiredTasks: async () => sweepExpiredRows(await getStore()),
    listen: async (listener) => registerListener(listenToDatabase(await getStore(), listener)),
    inspect: async (id) => inspectTask(await getStore(), id),
    ping: async () => void (await (await getStore()).database.query('SELECT 1')),
    close: () => {
      closePromise ??= closeStore(storePromise, stopFunctions)
      return closePromise
    },
  }
}

/** Ends the work in the background, then lets go of the database: a pool waits for what is in use. */
async function closeStore(
  storePromise: Promise<SqlStore> | undefined,
  stopFunctions: ReadonlySet<() => void>,
): Promise<void> {
  const store = await storePromise?.catch(() => undefined)
  for (const stop of stopFunctions) stop()
  await store?.notifications.flush()
  await store?.queue.close()
  await store?.database.close()
}

type StoreSettings = Pick<SqlStore, 'leaseMs' | 'tables'> & { readonly onError: (error: unknown) => void }

async function openStore(openDatabase: () => Promise<SqlDatabase>, settings: StoreSettings): Promise<SqlStore> {
  const { leaseMs, tables, onError } = settings
  const database = await openDatabase()
  try {
    await migrateTables(database, tables)
    const queue = await openQueue(database, { schema: `${tables.schema}_jobs`, onError })
    const notifications = createEngineNotifications(database.bus)
    // No call waits until the others are notified, because the written rows decide.
    const notify = (topic: string): void => void notifications.notify(topic).catch(onError)
    return {
      database,
      queue,
      tables,
      leaseMs,
      notifications,
      notifyWork: () => notify(workTopic),
      notifyCancel: (id) => notify(`${cancelTopic}${id}`),
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
    // A cancellation is reported with the next heartbeat as well.
    onGap: () => onWork(),
  })
}

/** As many as are deleted at once, so that no transaction waits long for a row. */
const maxSweptRows = 5000

/**
 * Deletes what has expired. Journal and answers go with their task, and a job is dropped by the worker that takes it.
 */
async function sweepExpiredRows({ database, tables }: SqlStore): Promise<number> {
  const rows = await database.query(
    `WITH expired AS (
      SELECT id FROM ${tables.task} WHERE expires_at <= statement_timestamp() ORDER BY expires_at LIMIT ${maxSweptRows} FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM ${tables.task} AS swept USING expired WHERE swept.id = expired.id RETURNING 1
    )
    SELECT count(*)::integer AS deleted FROM deleted`,
  )
  return Number(rows[0]?.['deleted'])
}

function requireLeaseMs(leaseMs: number): number {
  if (Number.isSafeInteger(leaseMs) && leaseMs >= 1) return leaseMs
  throw new RangeError(`leaseMs is ${leaseMs}; write a whole number of milliseconds from 1`)
}
