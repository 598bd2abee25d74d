import { type ChangeBus, type Log, type OptionTable, randomId, type ResolvedOptions } from '@x/core'
import type { EngineListener, TaskEngine } from '../engine.ts'
import { createLazyEngine, defaultLeaseMs, errorReporterOf } from '../lazy-engine.ts'
import { claimTasks, listDueTasks } from './claim-tasks.ts'
import { insertNewTask } from './create-task.ts'
import { cancelTopic, EngineNotifications, workTopic } from '../engine-notifications.ts'
import { finishTask, recordProgress, releaseTask, renewLeases, suspendTask } from './lease-writes.ts'
import { countTasks, inspectTask, listTasks, revokeTask } from './operator-requests.ts'
import { answerTask, cancelTask, readTask } from './owner-requests.ts'
import type { SqlDatabase } from './sql-database.ts'
import type { SqlStore } from './sql-store.ts'
import { migrateTables, tableNamesIn, withMissingTables } from './tables.ts'

/** Options of the engines that use SQL. */
export interface SqlEngineOptions {
  /** Schema of the tables. Default: `mcp_tasks`. */
  readonly schema?: string | undefined
  /** Milliseconds for which a claim is valid. Default: 10,000. */
  readonly leaseMs?: number | undefined
  /** Receives failures of background work. Default: the server's log, or else a line each on standard error. */
  readonly log?: Log | undefined
}

export const sqlOptionTable = {
  schema: 'mcp_tasks',
  leaseMs: defaultLeaseMs,
  log: undefined,
} satisfies OptionTable<SqlEngineOptions>

/** Opens the database with its first call. If that fails, the next call tries again. */
export function sqlEngine(
  openDatabase: () => Promise<SqlDatabase>,
  options: ResolvedOptions<SqlEngineOptions, typeof sqlOptionTable>,
): TaskEngine {
  const { leaseMs } = options
  const tables = tableNamesIn(options.schema)
  const onError = errorReporterOf(options, 'The database')
  return createLazyEngine(leaseMs, async () => {
    const database = await openDatabase()
    try {
      await migrateTables(database, tables)
    } catch (error) {
      await database.close().catch(onError)
      throw error
    }
    return createStoreEngine(createSqlStore(withMissingTables(database, tables), { tables, leaseMs, onError }), onError)
  })
}

function createSqlStore(
  database: SqlDatabase,
  { onError, ...settings }: Pick<SqlStore, 'leaseMs' | 'tables'> & { readonly onError: (error: unknown) => void },
): SqlStore {
  const notifications = new EngineNotifications(database.bus)
  // No caller waits for a notification, because workers find the rows without it as well.
  const notify = (topic: string): void => void notifications.notify(topic).catch(onError)
  return {
    ...settings,
    database,
    notifications,
    notifyWork: () => notify(workTopic),
    notifyCancel: (id) => notify(`${cancelTopic}${id}`),
  }
}

function createStoreEngine(store: SqlStore, onError: (error: unknown) => void): TaskEngine {
  const { database, leaseMs, notifications } = store
  return {
    leaseMs,
    notifications,
    create: (task) => insertNewTask(store, task),
    get: (id, owner) => readTask(store, id, owner),
    answer: (answers) => answerTask(store, answers),
    cancel: (id, owner) => cancelTask(store, id, owner),
    claim: (request) => claimTasks(store, request),
    heartbeat: (leases) => renewLeases(store, leases),
    record: (lease, progress) => recordProgress(store, lease, progress),
    suspend: (lease, suspension) => suspendTask(store, lease, suspension),
    release: (lease, taskRelease) => releaseTask(store, lease, taskRelease),
    finish: (lease, taskEnd) => finishTask(store, lease, taskEnd),
    deleteExpiredTasks: () => sweepExpiredRows(store),
    listen: (listener) => notifications.addListening(listenToDatabase(store, listener, onError)),
    listDue: (limit) => listDueTasks(store, limit),
    inspect: (id) => inspectTask(store, id),
    revoke: (id) => revokeTask(store, id),
    list: (filter) => listTasks(store, filter),
    count: () => countTasks(store),
    ping: async () => void (await database.query('SELECT 1')),
    close: async () => {
      // A pool closes only after all its connections are released.
      await notifications.close()
      await database.close()
    },
  }
}

/** Milliseconds to wait for the test notification. On a direct connection it arrives in less than ten. */
const proofTimeoutMs = 2000

const pollIntervalMs = 1000

/**
 * Listens, and proves that it works: behind a proxy that shares sessions, LISTEN succeeds but has no effect. After each
 * LISTEN a test notification is sent, and until one arrives, `onWork` is called each second.
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
      // A lost cancellation needs no action, because the next heartbeat also reports it.
      onWork()
      // LISTEN was sent again, perhaps over another connection, so the test is repeated.
      void proof.request()
    },
  })
  await proof.request()
  return () => {
    proof.stop()
    stopListening()
  }
}

/** Tests whether notifications arrive. Polls replace them while the test fails. */
function createListenProof(bus: ChangeBus, onWork: () => void, onError: (error: unknown) => void) {
  const topic = `proof:${randomId()}`
  const timers: { proof?: NodeJS.Timeout; poll?: NodeJS.Timeout } = {}
  let isAwaited = false
  const startPolling = (): void => {
    if (!isAwaited || timers.poll !== undefined) return
    const advice = 'give `listenPool` a pool that connects to PostgreSQL directly'
    onError(new Error(`Notifications of PostgreSQL do not arrive: ${advice}. Until then, workers poll every second`))
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
    /** It has arrived: stops the polls. */
    confirm,
    /** Sends the test notification. If it was sent and does not arrive in time, polls begin. */
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

/** Rows that one statement deletes at most, so that other statements need not wait for long. */
const maxSweptRows = 5000

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
