import { startBackgroundTimer } from '@x/core'
import { createCall, journalKey, taskAttemptKey, withContext } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, type RpcResponse, toWire, type WireError } from '@x/schema'
import { restoredPartsKey } from '@x/exchange/internal'
import type { LeaseState, TaskEnd } from '../../engines/engine.ts'
import { digestTaskId } from '../task-digest.ts'
import { readPayload, type RunnableCall } from '../task-payload.ts'
import {
  type Attempt,
  type WorkerContext,
  endClaim,
  createJournalStore,
  setAttemptEnd,
  setLastProgress,
  stopIfTooLarge,
  retryWrite,
  takeProgress,
  withProgressToken,
} from './attempt.ts'
import { emitAttempt } from './attempt-events.ts'
import { planRequeue, requeueCountOf, type MissingCapability } from './requeue.ts'
import { checkResultSize, checkRequestsSize } from './size-limits.ts'
import { findUnmetCapability } from './missing-capability.ts'

/** Runs a task until it has ended, waits for its client, or is released. Never rejects. */
export async function runTask(attempt: Attempt, context: WorkerContext): Promise<void> {
  const emitEnd = emitAttempt(attempt, context)
  await runClaimedTask(attempt, context)
  emitEnd()
}

async function runClaimedTask(attempt: Attempt, context: WorkerContext): Promise<void> {
  const { task } = attempt
  const { maxFailures, clock, onError } = context.settings
  if (task.isCancelling) return finishAttempt(attempt, cancelledEnd, context)
  if (task.failures >= maxFailures)
    return finishAttempt(attempt, failedEnd(tooManyFailuresError(task.failures)), context)
  try {
    const runnableCall = await readPayload(task, context.settings.state)
    if (runnableCall === undefined) return await requeueTask(attempt, unknownFormatCapability, context)
    const response = await runAttempt(attempt, runnableCall, context)
    if (response !== undefined) await applyResponse(attempt, runnableCall, response, context)
  } catch (error) {
    await endRejectedAttempt(attempt, error, context)
  } finally {
    endClaim(attempt)
    clock.clearTimeout(attempt.messageTimer)
    await attempt.pendingWrites.catch((error: unknown) => onError(error, { taskId: task.id }))
  }
}

/** Runs the call of a task. Rejects if the attempt is stopped, at the latest `cancelGraceMs` after the stop. */
async function runAttempt(
  attempt: Attempt,
  runnableCall: RunnableCall,
  context: WorkerContext,
): Promise<RpcResponse | undefined> {
  const { task, controller } = attempt
  const { method, params, principal, journal, extensionRecords } = runnableCall
  controller.signal.throwIfAborted()
  const digest = digestTaskId(task.id)
  const request = { jsonrpc: '2.0', id: digest ?? 'task', method, params: withProgressToken(params, task.id) } as const
  const baseCall = createCall({
    signal: controller.signal,
    principal,
    // All other notifications are dropped: log messages cannot reach the client of a task (seps/2663-tasks-extension,
    // task status notifications).
    notify: ({ method, params }) => {
      if (method === 'notifications/progress') setLastProgress(attempt, params, context)
    },
  })
  const taskCall = withContext(baseCall, taskAttemptKey, { taskDigest: digest, attempt: task.attempt })
  const call = withContext(
    withContext(taskCall, restoredPartsKey, extensionRecords),
    journalKey,
    createJournalStore(attempt, journal, context),
  )
  const responsePromise = context.innerExchange(request, call)
  const cancelGraceTimer = armCancelGrace(attempt, context)
  try {
    return await Promise.race([responsePromise, cancelGraceTimer.promise])
  } finally {
    cancelGraceTimer.forget()
  }
}

/** Milliseconds that a handler has to end after its attempt was stopped, for example to undo its work. */
const cancelGraceMs = 5000

/**
 * Returns a promise that rejects `cancelGraceMs` after the attempt was stopped. A handler that runs for longer has no
 * effect on the task.
 */
function armCancelGrace(attempt: Attempt, { settings }: WorkerContext) {
  const { signal } = attempt.controller
  let timer: unknown
  let startGraceTimer = (): void => {}
  const promise = new Promise<never>((_, reject) => {
    startGraceTimer = () => {
      timer = startBackgroundTimer(settings.clock, () => reject(signal.reason), cancelGraceMs)
    }
  })
  signal.addEventListener('abort', startGraceTimer, { once: true })
  const clearTimer = (): void => {
    signal.removeEventListener('abort', startGraceTimer)
    settings.clock.clearTimeout(timer)
  }
  return { promise, forget: clearTimer }
}

async function applyResponse(
  attempt: Attempt,
  runnableCall: RunnableCall,
  response: RpcResponse,
  context: WorkerContext,
): Promise<void> {
  const { stop } = attempt
  if (stop?.kind === 'lost') return
  if (stop?.kind === 'too_large') return finishTooLargeTask(attempt, stop.error, context)
  const unmetCapability = await findUnmetCapability(
    response,
    { runnableCall, signal: attempt.controller.signal },
    context,
  )
  if (unmetCapability !== undefined) return requeueTask(attempt, unmetCapability, context)
  if ('error' in response) return finishAttempt(attempt, failedEnd(response.error), context)
  const { result } = response
  if (result['resultType'] !== 'input_required') return finishAttempt(attempt, completedEnd(result), context)
  const { inputRequests } = result
  if (isJsonObject(inputRequests) && Object.keys(inputRequests).length > 0)
    return suspendAttempt(attempt, inputRequests, context)
  context.settings.onError(new Error('The call of a task returned input_required without a request'), {
    taskId: attempt.task.id,
  })
  return finishAttempt(attempt, failedEnd(toWire(undefined)), context)
}

/**
 * The missing capability for a payload in the format of a later version. Instances of that version can continue the
 * task.
 */
const unknownFormatCapability: MissingCapability = {
  code: errorCodes.internal,
  description: 'its format, which is of a later version',
}

/**
 * Requeues a task that this instance does not support. Ends the task if no instance has supported it for
 * `unsupportedTaskTimeoutMs`.
 */
async function requeueTask(
  attempt: Attempt,
  unmetCapability: MissingCapability,
  context: WorkerContext,
): Promise<void> {
  const { engine, settings } = context
  const requeueCount = requeueCountOf(attempt.task)
  const requeuePlan = planRequeue(requeueCount, unmetCapability)
  if ('code' in requeuePlan) return finishAttempt(attempt, reportFailure(attempt, requeuePlan, context), context)
  if (requeueCount === 0)
    settings.onError(
      new Error(
        `A task is requeued for other instances, because this one does not know ${unmetCapability.description}`,
      ),
      { taskId: attempt.task.id },
    )
  const leaseState = await writeClaimEnd(attempt, context, ({ statusMessage }) =>
    engine.release(attempt.task, {
      entries: [requeuePlan.entry],
      statusMessage,
      hasProgressed: false,
      pauseMs: requeuePlan.pauseMs,
    }),
  )
  setAttemptEnd(attempt, 'requeued', leaseState === 'owned')
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
  if (leaseState === 'owned') await dispatchReleased(attempt, context, requeuePlan.pauseMs)
}

/** Ends an attempt whose call rejected, because the attempt was stopped or the call could not be made. */
async function endRejectedAttempt(attempt: Attempt, error: unknown, context: WorkerContext): Promise<void> {
  const { stop } = attempt
  switch (stop?.kind) {
    case 'lost':
      return
    case 'too_large':
      return finishTooLargeTask(attempt, stop.error, context)
    case 'cancelled':
      return finishAttempt(attempt, cancelledEnd, context)
    case 'released':
      return releaseAttempt(attempt, context)
    default:
      context.settings.onError(error, { taskId: attempt.task.id })
      return finishAttempt(attempt, failedEnd(toWire(error)), context)
  }
}

async function suspendAttempt(attempt: Attempt, requests: JsonObject, context: WorkerContext): Promise<void> {
  const { engine, settings } = context
  const { ttlMs: lifetimeMs } = settings
  const sizeError = checkRequestsSize(requests)
  if (sizeError !== undefined) return finishTooLargeTask(attempt, sizeError, context)
  const leaseState = await writeClaimEnd(attempt, context, (progress) =>
    engine.suspend(attempt.task, { ...progress, requests, lifetimeMs }),
  )
  setAttemptEnd(attempt, 'suspended', leaseState === 'owned')
  if (leaseState === 'owned') attempt.end = 'waiting'
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
}

/** Releases a task, so that any instance can continue it at once. */
export async function releaseAttempt(attempt: Attempt, context: WorkerContext): Promise<void> {
  const { engine } = context
  const leaseState = await writeClaimEnd(attempt, context, (progress) => engine.release(attempt.task, progress))
  setAttemptEnd(attempt, 'released', leaseState === 'owned')
  if (leaseState === 'owned') await dispatchReleased(attempt, context)
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
}

async function dispatchReleased(attempt: Attempt, { dispatch }: WorkerContext, pauseMs?: number): Promise<void> {
  attempt.end = 'released'
  await dispatch(attempt.task.id, pauseMs)
}

type AttemptProgress = ReturnType<typeof takeProgress>

async function writeClaimEnd(
  attempt: Attempt,
  context: WorkerContext,
  write: (progress: AttemptProgress) => Promise<LeaseState>,
): Promise<LeaseState | undefined> {
  await attempt.pendingWrites
  const progress = takeProgress(attempt)
  const sizeError = stopIfTooLarge(attempt, progress)
  if (sizeError !== undefined) {
    await finishTooLargeTask(attempt, sizeError, context)
    return undefined
  }
  const notifyChange = (): void => context.taskChanges.notifyChange(attempt.task.id)
  const leaseState = await retryWrite(attempt, { run: () => write(progress), onRepeated: notifyChange }, context)
  if (leaseState !== 'cancelling') endClaim(attempt)
  if (leaseState === 'owned') notifyChange()
  return leaseState
}

async function finishAttempt(
  attempt: Attempt,
  taskEnd: Omit<TaskEnd, 'lifetimeMs'>,
  context: WorkerContext,
): Promise<void> {
  await attempt.pendingWrites
  endClaim(attempt)
  const { engine, settings } = context
  const sizeError = checkResultSize(taskEnd)
  // The last report of progress may not be stored yet.
  const { statusMessage, progress } = takeProgress(attempt)
  const endToStore = {
    ...(progress && { progress, statusMessage }),
    ...(sizeError === undefined ? taskEnd : reportFailure(attempt, sizeError, context)),
    lifetimeMs: settings.ttlMs,
  }
  const notifyChange = (): void => context.taskChanges.notifyChange(attempt.task.id)
  const run = () => engine.finish(attempt.task, endToStore)
  const isStored = await retryWrite(attempt, { run, onRepeated: notifyChange }, context)
  setAttemptEnd(attempt, endToStore.outcome.status, isStored === true)
  if (isStored !== true) return
  attempt.end = 'ended'
  notifyChange()
}

function finishTooLargeTask(attempt: Attempt, error: WireError, context: WorkerContext): Promise<void> {
  return finishAttempt(attempt, reportFailure(attempt, error, context), context)
}

/** Returns the end of a task that fails with an error. Logs the error as well, for the author of the tool. */
function reportFailure({ task }: Attempt, error: WireError, { settings }: WorkerContext): Omit<TaskEnd, 'lifetimeMs'> {
  settings.onError(new Error(`A task failed: ${error.message}`), { taskId: task.id })
  return failedEnd(error)
}

const cancelledEnd: Omit<TaskEnd, 'lifetimeMs'> = { outcome: { status: 'cancelled' } }

function completedEnd(result: JsonObject): Omit<TaskEnd, 'lifetimeMs'> {
  return { outcome: { status: 'completed', result } }
}

function failedEnd(error: WireError): Omit<TaskEnd, 'lifetimeMs'> {
  return { outcome: { status: 'failed', error }, statusMessage: error.message }
}

function tooManyFailuresError(failures: number): WireError {
  const message = `The task was started ${failures} times, and each time its process died or stopped before a step was done`
  return { code: errorCodes.internal, message }
}
