import { startBackgroundTimer } from '@x/core'
import { createCall, journalKey, taskAttemptKey, withContext } from '@x/exchange'
import {
  errorCodes,
  isJsonObject,
  type JsonObject,
  metaKeys,
  type RpcResponse,
  toWire,
  type WireError,
} from '@x/schema'
import { restoredPartsKey } from '@x/exchange/internal'
import type { LeaseState, TaskEnd, TaskProgress } from '../../engines/engine.ts'
import { digestTaskId } from '../task-digest.ts'
import { readPayload, type RunnableCall } from '../task-payload.ts'
import type { Attempt } from './attempt.ts'
import { planRequeue, requeueCountOf, type MissingCapability } from './requeue.ts'
import { checkResultSize, checkRequestsSize } from './size-limits.ts'
import { findUnmetCapability } from './missing-capability.ts'

/** Runs a task until it has ended, waits for its client, or is released. Never rejects. */
export async function runTask(attempt: Attempt): Promise<void> {
  const emitEnd = emitAttempt(attempt)
  await runClaimedTask(attempt)
  emitEnd()
}

function emitAttempt(attempt: Attempt): () => void {
  const { task } = attempt
  const { emit, settings } = attempt.context
  const { params } = task.payload
  const tool = isJsonObject(params) ? String(params['name']) : ''
  const subject = { taskDigest: digestTaskId(task.id), tool, attempt: task.attempt }
  const startedAt = settings.clock.monotonicNow()
  const { failures, waitedMs, entries } = task
  emit({ type: 'attempt_started', ...subject, failures, waitedMs, entryCount: entries.length })
  return () => {
    const durationMs = settings.clock.monotonicNow() - startedAt
    emit({ type: 'attempt_ended', ...subject, durationMs, journalBytes: attempt.journalBytes, end: attempt.end })
  }
}

async function runClaimedTask(attempt: Attempt): Promise<void> {
  const { task, context } = attempt
  const { maxFailures, state, onError } = context.settings
  if (task.isCancelling) return finishAttempt(attempt, cancelledEnd)
  if (task.failures >= maxFailures) return finishAttempt(attempt, failedEnd(tooManyFailuresError(task.failures)))
  try {
    const runnableCall = await readPayload(task, state)
    if ('code' in runnableCall) return await requeueTask(attempt, runnableCall)
    const response = await runAttempt(attempt, runnableCall)
    if (response !== undefined) await applyResponse(attempt, runnableCall, response)
  } catch (error) {
    await endRejectedAttempt(attempt, error)
  } finally {
    attempt.endClaim()
    await attempt.waitForWrites().catch((error: unknown) => onError(error, { taskId: task.id }))
  }
}

/** Runs a task's call. Rejects if the attempt is stopped, at the latest `cancelGraceMs` after the stop. */
async function runAttempt(attempt: Attempt, runnableCall: RunnableCall): Promise<RpcResponse | undefined> {
  const { task, signal, context } = attempt
  const { method, params, principal, journal, extensionRecords } = runnableCall
  signal.throwIfAborted()
  const digest = digestTaskId(task.id)
  const request = { jsonrpc: '2.0', id: digest ?? 'task', method, params: withProgressToken(params, task.id) } as const
  const baseCall = createCall({
    signal,
    principal,
    // All others are dropped: log messages cannot reach the client of a task (seps/2663-tasks-extension, task status
    // notifications).
    notify: ({ method, params }) => {
      if (method === 'notifications/progress') attempt.setLastProgress(params)
    },
  })
  const taskCall = withContext(baseCall, taskAttemptKey, { taskDigest: digest, attempt: task.attempt })
  const call = withContext(
    withContext(taskCall, restoredPartsKey, extensionRecords),
    journalKey,
    attempt.createJournalStore(journal),
  )
  return raceWithCancelGrace(context.innerExchange(request, call), attempt)
}

/** Without a token, a handler reports no progress. */
function withProgressToken(params: JsonObject, id: string): JsonObject {
  const { _meta } = params
  return { ...params, _meta: { ...(typeof _meta === 'object' && _meta), [metaKeys.progressToken]: id } }
}

/** Milliseconds that a handler has to end after its attempt was stopped, for example to undo its work. */
const cancelGraceMs = 5000

function raceWithCancelGrace<T>(promise: Promise<T>, { signal, context }: Attempt): Promise<T> {
  const { clock } = context.settings
  return new Promise((resolve, reject) => {
    let timer: unknown
    const startGraceTimer = (): void => {
      timer = startBackgroundTimer(clock, () => reject(signal.reason), cancelGraceMs)
    }
    signal.addEventListener('abort', startGraceTimer, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', startGraceTimer)
      clock.clearTimeout(timer)
    })
  })
}

async function applyResponse(attempt: Attempt, runnableCall: RunnableCall, response: RpcResponse): Promise<void> {
  const { stopReason } = attempt
  if (stopReason?.kind === 'lost') return
  if (stopReason?.kind === 'too_large') return finishTooLargeTask(attempt, stopReason.error)
  const unmetCapability = await findUnmetCapability(response, runnableCall, attempt)
  if (unmetCapability !== undefined) return requeueTask(attempt, unmetCapability)
  if ('error' in response) return finishAttempt(attempt, failedEnd(response.error))
  const { result } = response
  if (result['resultType'] !== 'input_required')
    return finishAttempt(attempt, { outcome: { status: 'completed', result } })
  const { inputRequests } = result
  if (isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0)
    return suspendAttempt(attempt, inputRequests)
  reportTaskError(attempt, new Error('The call of a task returned input_required without a request'))
  return finishAttempt(attempt, failedEnd(toWire(undefined)))
}

/**
 * Requeues a task that this instance does not support, or ends it if no instance has for `unsupportedTaskTimeoutMs`.
 */
async function requeueTask(attempt: Attempt, unmetCapability: MissingCapability): Promise<void> {
  const { task, context } = attempt
  const requeueCount = requeueCountOf(task)
  const requeuePlan = planRequeue(requeueCount, unmetCapability)
  if ('code' in requeuePlan) return finishAttempt(attempt, reportFailure(attempt, requeuePlan))
  const { entry, pauseMs } = requeuePlan
  if (requeueCount === 0) {
    const { description, cause } = unmetCapability
    const message = `A task is requeued for other instances, because this one does not know ${description}`
    reportTaskError(attempt, new Error(message, { cause }))
  }
  await endClaimAs('requeued', attempt, ({ statusMessage }) =>
    context.engine.release(task, { entries: [entry], statusMessage, hasProgressed: false, pauseMs }),
  )
  if (attempt.end === 'requeued') await context.dispatch(task.id, pauseMs)
}

/** For a call that rejected because the attempt was stopped, or the call could not be made. */
async function endRejectedAttempt(attempt: Attempt, error: unknown): Promise<void> {
  const { stopReason } = attempt
  switch (stopReason?.kind) {
    case 'lost':
      return
    case 'too_large':
      return finishTooLargeTask(attempt, stopReason.error)
    case 'cancelled':
      return finishAttempt(attempt, cancelledEnd)
    case 'released':
      return releaseAttempt(attempt)
    default:
      reportTaskError(attempt, error)
      return finishAttempt(attempt, failedEnd(toWire(error)))
  }
}

async function suspendAttempt(attempt: Attempt, requests: JsonObject): Promise<void> {
  const { engine, settings } = attempt.context
  const sizeError = checkRequestsSize(requests)
  if (sizeError !== undefined) return finishTooLargeTask(attempt, sizeError)
  await endClaimAs('suspended', attempt, (progress) =>
    engine.suspend(attempt.task, { ...progress, requests, lifetimeMs: settings.ttlMs }),
  )
}

/** Lets any instance continue the task at once. */
export async function releaseAttempt(attempt: Attempt): Promise<void> {
  const { task, context } = attempt
  await endClaimAs('released', attempt, (progress) => context.engine.release(task, progress))
  if (attempt.end === 'released') await context.dispatch(task.id)
}

/** Ends a claim and leaves the task open, unless it is too large or was cancelled: then the task ends. */
async function endClaimAs(
  end: 'requeued' | 'suspended' | 'released',
  attempt: Attempt,
  write: (progress: TaskProgress) => Promise<LeaseState>,
): Promise<void> {
  await attempt.waitForWrites()
  const progress = attempt.takeProgress(end === 'suspended')
  const sizeError = attempt.stopIfTooLarge(progress)
  if (sizeError !== undefined) return finishTooLargeTask(attempt, sizeError)
  const notifyChange = (): void => attempt.context.taskChanges.notifyChange(attempt.task.id)
  const leaseState = await attempt.retryWrite(() => write(progress), notifyChange)
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd)
  attempt.endClaim()
  if (leaseState !== 'owned') return
  attempt.setStoredEnd(end)
  notifyChange()
}

async function finishAttempt(attempt: Attempt, taskEnd: Omit<TaskEnd, 'lifetimeMs'>): Promise<void> {
  await attempt.waitForWrites()
  attempt.endClaim()
  const { engine, settings, taskChanges } = attempt.context
  const sizeError = checkResultSize(taskEnd)
  // There may be a last report of progress that is not stored yet.
  const { statusMessage, progress } = attempt.takeProgress()
  const endToStore = {
    ...(progress && { progress, statusMessage }),
    ...(sizeError === undefined ? taskEnd : reportFailure(attempt, sizeError)),
    lifetimeMs: settings.ttlMs,
  }
  const notifyChange = (): void => taskChanges.notifyChange(attempt.task.id)
  const isStored = await attempt.retryWrite(() => engine.finish(attempt.task, endToStore), notifyChange)
  if (isStored !== true) return
  attempt.setStoredEnd(endToStore.outcome.status)
  notifyChange()
}

function finishTooLargeTask(attempt: Attempt, error: WireError): Promise<void> {
  return finishAttempt(attempt, reportFailure(attempt, error))
}

/** Logs too, for the author of the tool. */
function reportFailure(attempt: Attempt, error: WireError): Omit<TaskEnd, 'lifetimeMs'> {
  reportTaskError(attempt, new Error(`A task failed: ${error.message}`))
  return failedEnd(error)
}

function reportTaskError({ task, context }: Attempt, error: unknown): void {
  context.settings.onError(error, { taskId: task.id })
}

const cancelledEnd: Omit<TaskEnd, 'lifetimeMs'> = { outcome: { status: 'cancelled' } }

function failedEnd(error: WireError): Omit<TaskEnd, 'lifetimeMs'> {
  return { outcome: { status: 'failed', error }, statusMessage: error.message }
}

function tooManyFailuresError(failures: number): WireError {
  const message = `The task was started ${failures} times, and each time its process died or stopped before a step was done or a checkpoint saved`
  return { code: errorCodes.internal, message }
}
