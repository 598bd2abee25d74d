import type {
  CancelOutcome,
  ClaimResult,
  Lease,
  LeaseState,
  RevokeOutcome,
  TaskAnswerOutcome,
  TaskCount,
  TaskEngine,
  TaskFilter,
  TaskPage,
  TaskProgress,
} from '../engine.ts'
import { fromStoredText, toStoredText, toTaskStatus } from '../stored-values.ts'
import { toTaskSummary } from '../task-summary.ts'
import type { Script } from './script-library.ts'
import * as scripts from './scripts.ts'
import { listFrom, parseClaimedTask, parseInspectedTask, encodeOptionalText, parseTaskRow } from './task-replies.ts'

export type RunScript = (script: Script, ...values: readonly (string | number)[]) => Promise<unknown>

/** Tasks that one script reads or deletes at most, so that other commands need not wait for long. */
const maxTasksPerScript = 1000

/** Most functions of an engine are one script; a list and a count may take several. */
export function createRedisRequests(
  run: RunScript,
  leaseMs: number,
  cancelText: (id: string) => string,
): Omit<TaskEngine, 'leaseMs' | 'notifications' | 'listen' | 'ping' | 'close'> {
  return {
    ...createOwnerRequests(run, cancelText),
    ...createClaims(run, toMicroseconds(leaseMs)),
    ...createLeaseWrites(run),
    deleteExpiredTasks: async () => Number(await run(scripts.sweepScript, maxTasksPerScript)),
    revoke: (id) => run(scripts.revokeScript, toStoredText(id)) as Promise<RevokeOutcome>,
    list: (filter) => listTasksByScript(run, filter),
    count: () => countTasksByScript(run),
  }
}

function createOwnerRequests(
  run: RunScript,
  cancelText: (id: string) => string,
): Pick<TaskEngine, 'create' | 'get' | 'inspect' | 'answer' | 'cancel'> {
  const read = async <T>(parse: (reply: unknown) => T, ...values: readonly string[]): Promise<T | undefined> => {
    const reply = (await run(scripts.readScript, ...values)) ?? undefined
    return reply === undefined ? undefined : parse(reply)
  }
  return {
    async create(task) {
      const { id, owner, caller, tool, payload, statusMessage, lifetimeMs, hasFixedLifetime, callerLimit } = task
      const texts = [id, owner, caller, tool].map(toStoredText)
      const values = [JSON.stringify(payload), toStoredMessage(statusMessage), toMicroseconds(lifetimeMs)]
      const isFixed = hasFixedLifetime === true ? '1' : ''
      const reply = await run(scripts.createScript, ...texts, ...values, isFixed, callerLimit)
      if (reply === 'exists') throw new Error(`The task ${JSON.stringify(id)} exists already: create another id`)
      return reply === 'full' ? 'full' : parseTaskRow(reply)
    },
    get: (id, owner) => read(parseTaskRow, toStoredText(id), toStoredText(owner)),
    inspect: (id) => read(parseInspectedTask, toStoredText(id)),
    answer({ id, owner, responses, lifetimeMs }) {
      const answers = Object.entries(responses).flatMap(([key, value]) => [toStoredText(key), JSON.stringify(value)])
      const values = [toStoredText(id), toStoredText(owner), toMicroseconds(lifetimeMs), ...answers]
      // The script returns these outcomes alone, and so do the scripts below.
      return run(scripts.answerScript, ...values) as Promise<TaskAnswerOutcome>
    },
    cancel(id, owner) {
      const outcome = JSON.stringify({ status: 'cancelled' })
      const owners = owner === undefined ? [] : [toStoredText(owner)]
      return run(scripts.cancelScript, toStoredText(id), cancelText(id), outcome, ...owners) as Promise<CancelOutcome>
    },
  }
}

function createClaims(run: RunScript, lease: string): Pick<TaskEngine, 'claim' | 'heartbeat' | 'listDue'> {
  return {
    async claim({ maxClaims, id, worker }) {
      if (maxClaims < 1) return { tasks: [], nextDueMs: undefined }
      const count = id === undefined ? maxClaims : 1
      const tokens = Array.from({ length: count }, () => crypto.randomUUID())
      const only = id === undefined ? '' : toStoredText(id)
      return toClaims(await run(scripts.claimScript, count, lease, encodeOptionalText(worker), only, ...tokens))
    },
    async heartbeat(leases) {
      if (leases.length === 0) return []
      return listFrom(await run(scripts.heartbeatScript, lease, ...leases.flatMap(toLeaseValues))) as LeaseState[]
    },
    listDue: async (limit) => listFrom(await run(scripts.listDueScript, limit)).map((id) => fromStoredText(String(id))),
  }
}

function createLeaseWrites(run: RunScript): Pick<TaskEngine, 'record' | 'suspend' | 'release' | 'finish'> {
  return {
    record: (held, progress) =>
      run(scripts.recordScript, ...toProgressValues(held, progress, [])) as Promise<LeaseState>,
    suspend(held, { requests, lifetimeMs, ...progress }) {
      const values = [JSON.stringify(requests), toMicroseconds(lifetimeMs), ...Object.keys(requests).map(toStoredText)]
      return run(scripts.suspendScript, ...toProgressValues(held, progress, values)) as Promise<LeaseState>
    },
    release(held, { pauseMs, ...progress }) {
      const values = [toMicroseconds(pauseMs)]
      return run(scripts.releaseScript, ...toProgressValues(held, progress, values)) as Promise<LeaseState>
    },
    async finish(held, { outcome, statusMessage, progress, lifetimeMs }) {
      const end = [outcome.status, JSON.stringify(outcome), toStoredMessage(statusMessage), toOptionalJson(progress)]
      return (await run(scripts.finishScript, ...toLeaseValues(held), ...end, toMicroseconds(lifetimeMs))) === 1
    },
  }
}

/** In whole microseconds, or the empty text for none. */
function toMicroseconds(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : String(Math.round(ms * 1000))
}

function toOptionalJson(value: object | undefined): string {
  return value === undefined ? '' : JSON.stringify(value)
}

function toStoredMessage(text: string | undefined): string {
  return encodeOptionalText(text === undefined ? undefined : toStoredText(text))
}

function toLeaseValues({ id, token }: Lease): readonly string[] {
  return [toStoredText(id), toStoredText(token)]
}

/** In order: the lease, the progress, the arguments of that write, and the journal entries. */
function toProgressValues(
  held: Lease,
  progress: TaskProgress,
  values: readonly string[],
): readonly (string | number)[] {
  const { entries, statusMessage, progress: numbers, hasProgressed } = progress
  const entryTexts = entries.flatMap((entry) => [JSON.stringify([entry.member, entry.key]), JSON.stringify(entry)])
  const firstEntry = 7 + values.length
  const state = [toStoredMessage(statusMessage), toOptionalJson(numbers), hasProgressed ? '1' : '']
  return [...toLeaseValues(held), ...state, firstEntry, ...values, ...entryTexts]
}

function toClaims(reply: unknown): ClaimResult {
  const [nextDueMs, claimed] = listFrom(reply)
  const createdAt = (claim: unknown): number => Number(listFrom(claim)[7])
  const oldestFirst = listFrom(claimed).toSorted((one, other) => createdAt(one) - createdAt(other))
  return { nextDueMs: nextDueMs === '' ? undefined : Number(nextDueMs), tasks: oldestFirst.map(parseClaimedTask) }
}

/** One script reads a bounded number of tasks, so a filter that few tasks match takes several. */
async function listTasksByScript(run: RunScript, filter: TaskFilter): Promise<TaskPage> {
  const { status = '', tool, owner, olderThanMs = 0, minFailures = 0, limit, cursor } = filter
  const texts = [status, toStoredMessage(tool), toStoredMessage(owner), toMicroseconds(olderThanMs), minFailures]
  let [time, id] = parseRedisCursor(cursor)
  const rows: unknown[] = []
  for (let isDone = false; !isDone && rows.length <= limit; ) {
    const missing = limit + 1 - rows.length
    const reply = listFrom(await run(scripts.listScript, missing, time, id, ...texts, maxTasksPerScript))
    rows.push(...listFrom(reply[0]))
    ;[time = '', id = ''] = listFrom(reply[1]).map(String)
    isDone = reply[2] === 1
  }
  const page = rows.slice(0, limit).map(parseInspectedTask)
  return {
    tasks: page.map(toTaskSummary),
    ...(rows.length > limit && { nextCursor: toCursor(rows[limit - 1]) }),
  }
}

function toCursor(row: unknown): string {
  const [id, , , , created] = listFrom(listFrom(row)[0])
  return `${created} ${id}`
}

function parseRedisCursor(cursor: string | undefined): readonly [time: string, id: string] {
  if (cursor === undefined) return ['', '']
  const [, time, id] = /^(\d{1,17}) (.*)$/s.exec(cursor) ?? []
  if (time === undefined || id === undefined) throw new RangeError('cursor is not the nextCursor of a page')
  return [time, id]
}

/** Takes several scripts, so a task that changes meanwhile may be counted twice or not at all. */
async function countTasksByScript(run: RunScript): Promise<readonly TaskCount[]> {
  const counts = new Map<string, TaskCount>()
  for (const set of ['due', 'waiting']) {
    for (let rank = 0, readCount = maxTasksPerScript; readCount === maxTasksPerScript; rank += readCount) {
      const reply = listFrom(await run(scripts.countScript, set, rank, maxTasksPerScript))
      readCount = Number(reply[0])
      for (const group of listFrom(reply[1])) addCount(counts, listFrom(group))
    }
  }
  return [...counts.values()]
}

function addCount(counts: Map<string, TaskCount>, [toolText, status, state, count, ageMs]: readonly unknown[]): void {
  const key = JSON.stringify([toolText, state])
  const before = counts.get(key)
  counts.set(key, {
    tool: fromStoredText(String(toolText)),
    status: toTaskStatus(status),
    // The scripts return these states alone.
    state: state as TaskCount['state'],
    count: Number(count) + (before?.count ?? 0),
    oldestAgeMs: Math.max(Number(ageMs), before?.oldestAgeMs ?? 0),
  })
}
