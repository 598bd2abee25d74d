import { type AbortScope, openAbortScope, settlesWithin, toPrintableLine } from '@x/core'
import { type CallOptions, ClientError, isClientError, type Progress } from '@x/client'
import type { CallToolResult } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import { InputResponder } from './input-responder.ts'
import type { OpenTask } from './open-task.ts'
import { requestCancel, taskErrorContextOf } from './task-requests.ts'
import { isTaskError, TaskError } from './task-error.ts'
import { isFinal, progressOfState, watchTask } from './watch-task.ts'

/**
 * Follows a task until it has ended, and returns the result of its call; on the way it answers requests for input and
 * reports progress. Rejects with the `ClientError` of a failed call, with {@link TaskError}, or with `signal.reason`.
 */
export async function awaitTaskResult(task: OpenTask, options: CallOptions): Promise<CallToolResult> {
  const abortScope = createTaskAbortScope(task, options)
  const { signal } = abortScope
  const callOptions = { ...options, signal }
  const inputResponder = new InputResponder(task, callOptions, abortScope.stop)
  const reportProgress = createProgressReporter(task, options)
  try {
    for await (const state of watchTask(task, callOptions)) {
      reportProgress(state)
      inputResponder.handleState(state)
      task.isFinished = isFinal(state)
      if (task.isFinished) return await toCallToolResult(task, state, callOptions)
      signal.throwIfAborted()
    }
    // A watch ends only after a final state, for which this function has returned.
    throw new Error('a task that is watched ends with a final state')
  } catch (error) {
    if (isTaskError(error) && error.code === 'expired') task.isFinished = true
    if (isClientError(error)) setMayHaveRun(error)
    throw error
  } finally {
    inputResponder.close()
    abortScope.close()
  }
}

/** The call has become a task, whatever its last request says. */
function setMayHaveRun(error: { mayHaveRun: boolean }): void {
  error.mayHaveRun = true
}

// Beyond this wait the request continues, as long as the connection is open. A task that is not cancelled expires.
const cancelWaitMs = 1000

/**
 * Waits for the acknowledgement, because a program that gives up often closes the connection next, which would take the
 * request back. Never rejects.
 */
export async function cancelAbandonedTask(task: OpenTask, { meta, timeoutMs }: CallOptions): Promise<void> {
  await settlesWithin(requestCancel({ ...task, options: { meta, timeoutMs } }), cancelWaitMs, task.settings.clock)
}

async function toCallToolResult(task: OpenTask, state: DetailedTask, options: CallOptions): Promise<CallToolResult> {
  const { host, tool } = task
  if (state.status === 'completed') return host.checkToolResult(tool, state.result, options)
  if (state.status === 'failed') {
    const { code, message, data } = state.error
    const rpc = { code, message, ...(data !== undefined && { data }) }
    throw new ClientError('rpc', `the task failed with ${code} ${toPrintableLine(message, 1000)}`, {
      ...taskErrorContextOf(host, tool),
      rpc,
    })
  }
  const statusSuffix = state.statusMessage === undefined ? '' : `: ${toPrintableLine(state.statusMessage, 1000)}`
  throw new TaskError('cancelled', `The task of ${JSON.stringify(tool)} was cancelled${statusSuffix}`, { tool })
}

/**
 * Reports a state's numbers and text as progress, but not the same twice. A text without numbers goes with the last
 * known ones. Lower numbers are left out, because a handler that runs again repeats its first reports.
 */
function createProgressReporter(
  { progress: initialProgress }: OpenTask,
  { onProgress }: CallOptions,
): (state: DetailedTask) => void {
  let highestProgress: Progress = { progress: initialProgress }
  return (state) => {
    const stateProgress = progressOfState(state)
    if (stateProgress !== undefined && stateProgress.progress < highestProgress.progress) return
    const { progress, total } = stateProgress ?? highestProgress
    const message = state.statusMessage ?? highestProgress.message
    const nextProgress = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
    if (JSON.stringify(nextProgress) === JSON.stringify(highestProgress)) return
    highestProgress = nextProgress
    onProgress?.(nextProgress)
  }
}

function createTaskAbortScope({ settings, tool }: OpenTask, { signal }: CallOptions): AbortScope {
  const { clock, maxTaskMs } = settings
  const createTimeoutError = (): TaskError => {
    const message = `The task of ${JSON.stringify(tool)} has not ended within ${maxTaskMs} ms; allow more with maxTaskMs`
    return new TaskError('timeout', message, { tool })
  }
  return openAbortScope(signal, { timeoutMs: maxTaskMs, clock, createTimeoutError })
}
