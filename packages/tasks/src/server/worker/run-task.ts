import { startBackgroundTimer } from '@x/core'
import {
  createCall,
  errorCodes,
  isJsonObject,
  journalKey,
  type JsonObject,
  type RpcResponse,
  toWire,
  type WireError,
  restoredPartsKey,
  withContext,
} from '@x/schema'
import type { LeaseState, TaskEnd } from '../../engines/engine.ts'
import { readPayload, type RunnableCall } from '../task-payload.ts'
import type { TaskContext } from '../options.ts'
import {
  type Attempt,
  endClaim,
  createJournalStore,
  setLastProgress,
  stopIfTooLarge,
  retryEngineCall,
  takeProgress,
  withProgressToken,
} from './attempt.ts'
import { planRequeue, requeueCountOf, type MissingCapability } from './requeue.ts'
import { checkResultSize, checkRequestsSize } from './size-limits.ts'
import { findUnmetCapability } from './missing-capability.ts'

/** Works on a task until it has ended, waits for its client, or is released. Never rejects. */
export async function runTask(attempt: Attempt, context: TaskContext): Promise<void> {
  const { task } = attempt
  const { maxFailures, clock, onError } = context.settings
  if (task.isCancelling) return finishAttempt(attempt, cancelledEnd, context)
  if (task.failures >= maxFailures)
    return finishAttempt(attempt, failedEnd(tooManyFailuresError(task.failures)), context)
  try {
    const runnableCall = await readPayload(task, context.settings.credentials)
    if (runnableCall === undefined) return await requeueTask(attempt, unknownFormatCapability, context)
    const response = await runAttempt(attempt, runnableCall, context)
    if (response !== undefined) await applyResponse({ attempt, runnableCall, response }, context)
  } catch (error) {
    await endRejectedAttempt(attempt, error, context)
  } finally {
    endClaim(attempt)
    clock.clearTimeout(attempt.messageTimer)
    await attempt.pendingWrites.catch(onError)
  }
}

/** Runs the call. Rejects when its task was stopped, also when its handler did not end in time. */
async function runAttempt(
  attempt: Attempt,
  runnableCall: RunnableCall,
  context: TaskContext,
): Promise<RpcResponse | undefined> {
  const { task, controller } = attempt
  const { method, params, principal, journal, extensionRecords } = runnableCall
  controller.signal.throwIfAborted()
  const request = { jsonrpc: '2.0', id: task.id, method, params: withProgressToken(params, task.id) } as const
  const baseCall = createCall({
    signal: controller.signal,
    principal,
    // Log messages have no way to a task's client (seps/2663-tasks-extension, task status notifications).
    notify: ({ method, params }) => {
      if (method === 'notifications/progress') setLastProgress(attempt, params, context)
    },
  })
  const call = withContext(
    withContext(baseCall, restoredPartsKey, extensionRecords),
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

/**
 * Bounds the wait for a handler that does not end though its task was cancelled. It may still run, and changes nothing.
 */
function armCancelGrace(attempt: Attempt, { settings }: TaskContext) {
  const { signal } = attempt.controller
  let timer: unknown
  let startGraceTimer = (): void => {}
  const promise = new Promise<never>((_, reject) => {
    startGraceTimer = () => {
      timer = startBackgroundTimer(settings.clock, () => reject(signal.reason), settings.cancelGraceMs)
    }
  })
  signal.addEventListener('abort', startGraceTimer, { once: true })
  const clearTimer = (): void => {
    signal.removeEventListener('abort', startGraceTimer)
    settings.clock.clearTimeout(timer)
  }
  return { promise, forget: clearTimer }
}

interface AttemptResponse {
  readonly attempt: Attempt
  readonly runnableCall: RunnableCall
  readonly response: RpcResponse
}

async function applyResponse(
  { attempt, runnableCall, response }: AttemptResponse,
  context: TaskContext,
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
  context.settings.onError(new Error(`Task ${attempt.task.id} was answered with input_required and without a question`))
  return finishAttempt(attempt, failedEnd(toWire(undefined)), context)
}

/** A task of a later version's format, which instances of that version can continue. */
const unknownFormatCapability: MissingCapability = {
  code: errorCodes.internal,
  description: 'its format: a later version has written it',
}

/**
 * Requeues a task that this instance does not support, or ends it when no instance has supported it for long enough.
 */
async function requeueTask(attempt: Attempt, unmetCapability: MissingCapability, context: TaskContext): Promise<void> {
  const { engine, unsupportedTaskTimeoutMs, onError } = context.settings
  const requeueCount = requeueCountOf(attempt.task)
  const requeuePlan = planRequeue(requeueCount, unmetCapability, unsupportedTaskTimeoutMs)
  if ('code' in requeuePlan) return finishAttempt(attempt, reportFailure(attempt, requeuePlan, context), context)
  if (requeueCount === 0)
    onError(
      new Error(
        `Task ${attempt.task.id} is requeued for other instances, as this one does not know ${unmetCapability.description}`,
      ),
    )
  const leaseState = await writeClaimEnd(attempt, context, ({ statusMessage }) =>
    engine.release(attempt.task, {
      entries: [requeuePlan.entry],
      statusMessage,
      hasProgressed: false,
      pauseMs: requeuePlan.pauseMs,
    }),
  )
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
}

/** Ends an attempt whose call rejected: it was stopped, or could not be made at all. */
async function endRejectedAttempt(attempt: Attempt, error: unknown, context: TaskContext): Promise<void> {
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
      context.settings.onError(error)
      return finishAttempt(attempt, failedEnd(toWire(error)), context)
  }
}

async function suspendAttempt(attempt: Attempt, requests: JsonObject, context: TaskContext): Promise<void> {
  const { engine, ttlMs: lifetimeMs } = context.settings
  const sizeError = checkRequestsSize(requests, context.settings)
  if (sizeError !== undefined) return finishTooLargeTask(attempt, sizeError, context)
  const leaseState = await writeClaimEnd(attempt, context, (progress) =>
    engine.suspend(attempt.task, { ...progress, requests, lifetimeMs }),
  )
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
}

/** Releases a task, for any instance to continue at once. */
export async function releaseAttempt(attempt: Attempt, context: TaskContext): Promise<void> {
  const { engine } = context.settings
  const leaseState = await writeClaimEnd(attempt, context, (progress) => engine.release(attempt.task, progress))
  if (leaseState === 'cancelling') return finishAttempt(attempt, cancelledEnd, context)
}

type AttemptProgress = ReturnType<typeof takeProgress>

async function writeClaimEnd(
  attempt: Attempt,
  context: TaskContext,
  write: (progress: AttemptProgress) => Promise<LeaseState>,
): Promise<LeaseState | undefined> {
  await attempt.pendingWrites
  const progress = takeProgress(attempt)
  const sizeError = stopIfTooLarge(attempt, progress, context)
  if (sizeError !== undefined) {
    await finishTooLargeTask(attempt, sizeError, context)
    return undefined
  }
  const leaseState = await retryEngineCall(() => write(progress), attempt.abandonSignal, context)
  if (leaseState !== 'cancelling') endClaim(attempt)
  if (leaseState === 'owned') context.taskChanges.notifyChange(attempt.task.id)
  return leaseState
}

async function finishAttempt(
  attempt: Attempt,
  taskEnd: Omit<TaskEnd, 'lifetimeMs'>,
  context: TaskContext,
): Promise<void> {
  await attempt.pendingWrites
  endClaim(attempt)
  const { settings } = context
  const sizeError = checkResultSize(taskEnd, settings)
  const endToStore = sizeError === undefined ? taskEnd : reportFailure(attempt, sizeError, context)
  const write = () => settings.engine.finish(attempt.task, { ...endToStore, lifetimeMs: settings.ttlMs })
  const isStored = await retryEngineCall(write, attempt.abandonSignal, context)
  if (isStored === true) context.taskChanges.notifyChange(attempt.task.id)
}

function finishTooLargeTask(attempt: Attempt, error: WireError, context: TaskContext): Promise<void> {
  return finishAttempt(attempt, reportFailure(attempt, error, context), context)
}

/** Reports a failure to the author of the tool as well. */
function reportFailure({ task }: Attempt, error: WireError, { settings }: TaskContext): Omit<TaskEnd, 'lifetimeMs'> {
  settings.onError(new Error(`Task ${task.id}: ${error.message}`))
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
  const message = `The task was begun ${failures} times, and each time its process died or stood still before a step of it was done`
  return { code: errorCodes.internal, message }
}
