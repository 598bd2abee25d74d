import { type ChangeBus, checkedNumber, createLog, errorRecord, type Log, randomId } from '@x/core'
import type { EngineListener, TaskEngine } from '../engine.ts'
import { claimTasks } from './claim-tasks.ts'
import { createTask } from './create-task.ts'
import { createEngineNotifications } from './engine-notifications.ts'
import { finishTask, recordProgress, releaseTask, renewLeases, suspendTask } from './lease-writes.ts'
import { countTasks, inspectTask, listTasks, revokeTask } from './operator-requests.ts'
import { answerTask, cancelTask, readTask } from './owner-requests.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SqlStore } from './sql-store.ts'
import { migrateTables, tableNamesIn } from './tables.ts'

/** The options of all engines over SQL. */
export interface SqlEngineOptions {
  /** The schema of the tables. Default: `mcp_tasks`. */
  readonly schema?: string | undefined
  /** Milliseconds for which a claim is valid. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /** Receives failures in the background. Default: a line of the standard error for each. */
  readonly log?: Log | undefined
}

/** Returns the function that reports failures in the background of an engine. */
export function errorReporterOf({ log }: SqlEngineOptions): (error: unknown) => void {
  const safeLog = createLog(log, '@x/tasks')
  return (error) => safeLog(errorRecord(error, { name: 'tasks' }))
}

/** An engine over a database that is opened with the first use, and again with the next one after a failure. */
export function sqlEngine(openDatabase: () => Promise<SqlDatabase>, options: SqlEngineOptions): TaskEngine {
  const leaseMs = checkedNumber('leaseMs', options.leaseMs ?? 10_000)
  const tables = tableNamesIn(options.schema ?? 'mcp_tasks')
  const settings = { leaseMs, tables, onError: errorReporterOf(options) }
  let storePromise: Promise<SqlStore> | undefined
  const stopFunctions = new Set<() => void>()
  let closePromise: Promise<void> | undefined

  const getStore = (): Promise<SqlStore> => {
    if (closePromise !== undefined) return Promise.reject(new Error('The engine is closed and takes no more calls'))
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
    cancel: async (id, owner) => cancelTask(await getStore(), id, owner),
    claim: async (request) => claimTasks(await getStore(), request),
    heartbeat: async (leases) => renewLeases(await getStore(), leases),
    record: async (lease, progress) => recordProgress(await getStore(), lease, progress),
    suspend: async (lease, suspension) => suspendTask(await getStore(), lease, suspension),
    release: async (lease, taskRelease) => releaseTask(await getStore(), lease, taskRelease),
    finish: async (lease, taskEnd) => finishTask(await getStore(), lease, taskEnd),
    deleteExpiredTasks: async () => sweepExpiredRows(await getStore()),
    listen: async (listener) => registerListener(listenToDatabase(await getStore(), listener, settings.onError)),
    inspect: async (id) => inspectTask(await getStore(), id),
    revoke: async (id) => revokeTask(await getStore(), id),
    list: async (filter) => listTasks(await getStore(), filter),
    count: async () => countTasks(await getStore()),
    ping: async () => void (await (await getStore()).database.query('SELECT 1')),
    close: () => {
      closePromise ??= closeStore(storePromise, stopFunctions)
      return closePromise
    },
  }
}

/** Stops listening, then closes the database: a pool waits for the connections in use. */
async function closeStore(
  storePromise: Promise<SqlStore> | undefined,
  stopFunctions: ReadonlySet<() => void>,
): Promise<void> {
  const store = await storePromise?.catch(() => undefined)
  for (const stop of stopFunctions) stop()
  await store?.notifications.flush()
  await store?.database.close()
}

type StoreSettings = Pick<SqlStore, 'leaseMs' | 'tables'> & { readonly onError: (error: unknown) => void }

async function openStore(openDatabase: () => Promise<SqlDatabase>, settings: StoreSettings): Promise<SqlStore> {
  const { leaseMs, tables, onError } = settings
  const database = await openDatabase()
  try {
    await migrateTables(database, tables)
    const notifications = createEngineNotifications(database.bus)
    // The rows count, so that no caller waits for notifications.
    const notify = (topic: string): void => void notifications.notify(topic).catch(onError)
    return {
      database,
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

/** Milliseconds in which a notification arrives, if notifications pass: directly it takes less than ten. */
const proofTimeoutMs = 2000

/** Milliseconds between two polls of a worker that gets no notifications. */
const pollIntervalMs = 1000

/**
 * Listens to the database. LISTEN also succeeds through a balancer that shares sessions, and is then without effect.
 * A notification of its own proves that notifications pass, after each LISTEN. While none has arrived the listener is
 * called each second.
 */
async function listenToDatabase(
  { database }: SqlStore,
  { onWork, onCancel }: EngineListener,
  onError: (error: unknown) => void,
): Promise<() => void> {
  const proof = createListenProof(database.bus, onWork, onError)
  const stopListening = await database.bus.listen({
    onChange: ({ topic }) => {
      if (topic === workTopic) onWork()
      else if (topic === proof.topic) proof.confirm()
      else if (topic.startsWith(cancelTopic)) onCancel(topic.slice(cancelTopic.length))
    },
    onGap: () => {
      // A cancellation is reported with the next heartbeat as well.
      onWork()
      // The bus has sent LISTEN again, perhaps over another way.
      void proof.request()
    },
  })
  await proof.request()
  return () => {
    proof.stop()
    stopListening()
  }
}

/** The proof that notifications pass, and the polls that replace them while there is none. */
function createListenProof(bus: ChangeBus, onWork: () => void, onError: (error: unknown) => void) {
  const topic = `proof:${randomId()}`
  const timers: { proof?: NodeJS.Timeout; poll?: NodeJS.Timeout } = {}
  let isAwaited = false
  const startPolling = (): void => {
    if (!isAwaited || timers.poll !== undefined) return
    const advice = 'give `listenPool` a pool that connects to PostgreSQL directly'
    onError(new Error(`Notifications of PostgreSQL do not pass: ${advice}. Until then workers poll each second`))
    timers.poll = setInterval(onWork, pollIntervalMs).unref()
  }
  const confirm = (): void => {
    isAwaited = false
    clearTimeout(timers.proof)
    clearInterval(timers.poll)
    delete timers.poll
  }
  return {
    topic,
    /** Called when the notification has arrived. */
    confirm,
    /** Sends the notification. When it was sent and does not arrive, polls begin. */
    request: async (): Promise<void> => {
      isAwaited = true
      clearTimeout(timers.proof)
      const isSent = await bus.publish({ topic }).then(
        () => true,
        (error: unknown) => onError(error),
      )
      if (isSent && isAwaited) timers.proof = setTimeout(startPolling, proofTimeoutMs).unref()
    },
    stop: confirm,
  }
}

/** The rows that one statement deletes, so that other statements wait for a short time only. */
const maxSweptRows = 5000

/** Deletes expired tasks with their journals and answers. */
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
