import { sleep } from '@x/core'
import { type CallOptions, ClientError, isClientError, isPermanent } from '@x/client'
import type { InputRequest, InputResponses } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { OpenTask } from './open-task.ts'
import { computeFailurePauseMs } from './settings.ts'
import { errorContextOf, updateTask } from './task-requests.ts'

/** Passes a task's requests for input to the handlers of the client, while the task is watched. */
export interface InputResponder {
  /** Handles a new state of the task: asks its new requests, and aborts those that the task no longer has. */
  handleState(state: DetailedTask): void
  /** Aborts all requests that the handlers have not answered. */
  close(): void
}

/** The options of a call, which contain its handlers, and the function that receives failures. */
export interface InputResponderContext {
  readonly options: CallOptions & { readonly signal: AbortSignal }
  readonly onFailure: (error: unknown) => void
}

interface InputRequestBatch {
  readonly requests: ReadonlyMap<string, InputRequest>
  readonly round: number
  readonly controller: AbortController
}

/**
 * Creates an {@link InputResponder}. The handlers of the call and of the client answer each request of the task once
 * (seps/2663-tasks-extension, task update requests). Meanwhile the task is watched. A request is aborted if it was
 * answered elsewhere, or if the task has ended.
 */
export function createInputResponder(task: OpenTask, { options, onFailure }: InputResponderContext): InputResponder {
  const { requestTracker } = task
  const batches = new Set<InputRequestBatch>()
  let openKeys: ReadonlySet<string> = new Set()

  const answerBatch = async (batch: InputRequestBatch): Promise<void> => {
    const { requests, round, controller } = batch
    const keys = [...requests.keys()]
    try {
      const callOptions = { ...options, signal: controller.signal }
      const responses = await askHost(task, { requests, round }, callOptions)
      const openResponses = Object.entries(responses).filter(([key]) => openKeys.has(key))
      if (openResponses.length > 0) await sendAnswers(task, Object.fromEntries(openResponses), callOptions)
      requestTracker.markAnswered(keys)
    } catch (error) {
      requestTracker.release(keys)
      if (!controller.signal.aborted) onFailure(error)
    } finally {
      batches.delete(batch)
    }
  }
  const cancelBatch = (batch: InputRequestBatch): void => {
    requestTracker.release(batch.requests.keys())
    batch.controller.abort(new DOMException('The request of the task is no longer open', 'AbortError'))
  }
  return {
    handleState: (state) => {
      const requests = state.status === 'input_required' ? state.inputRequests : {}
      openKeys = new Set(Object.keys(requests))
      for (const batch of batches) if (![...batch.requests.keys()].some((key) => openKeys.has(key))) cancelBatch(batch)
      const newRequests = requestTracker.selectNewRequests(requests)
      if ('changedKey' in newRequests) return onFailure(changedRequestError(task, newRequests.changedKey))
      if (newRequests.requests.size === 0) return
      requestTracker.roundCount += 1
      const batch = {
        requests: newRequests.requests,
        round: requestTracker.roundCount,
        controller: new AbortController(),
      }
      batches.add(batch)
      void answerBatch(batch)
    },
    close: () => {
      for (const batch of batches) cancelBatch(batch)
    },
  }
}

function askHost(
  { host, tool }: OpenTask,
  { requests, round }: Pick<InputRequestBatch, 'requests' | 'round'>,
  options: CallOptions,
): Promise<InputResponses> {
  return host.answerInput({ name: tool, inputRequests: Object.fromEntries(requests), round }, options)
}

/**
 * Sends answers until the server has accepted them, so that a transient failure does not lose the answers of people.
 */
async function sendAnswers(
  task: OpenTask,
  responses: InputResponses,
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { clock, random, failureTimeoutMs } = task.settings
  const startedAt = clock.monotonicNow()
  for (let failures = 0; ; failures += 1) {
    try {
      return await updateTask({ ...task, options }, responses)
    } catch (error) {
      options.signal.throwIfAborted()
      const isTimedOut = clock.monotonicNow() - startedAt >= failureTimeoutMs
      if (!isClientError(error) || isPermanent(error) || error.code === 'invalid_result' || isTimedOut) throw error
    }
    await sleep(computeFailurePauseMs(failures, random), { clock, signal: options.signal })
  }
}

function changedRequestError({ host, tool }: OpenTask, key: string): ClientError {
  const shownKey = JSON.stringify(key.slice(0, 128).replaceAll(/\p{C}/gu, ' '))
  const reason = `the task asks ${shownKey} again with another request: use each key for one request only`
  return new ClientError('invalid_result', reason, errorContextOf(host, tool))
}
