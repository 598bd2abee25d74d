import { sleep } from '@x/core'
import type { CallOptions } from '@x/client'
import type { InputRequest, InputRequests, InputResponses } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { OpenTask } from './open-task.ts'
import { computeFailurePauseMs, isTemporary } from './settings.ts'
import { updateTask } from './task-requests.ts'

/** Passes a task's requests for input to the client's handlers while the task is watched. */
export interface InputResponder {
  /** Asks a state's new requests, aborts those that the task no longer has, and sends lost answers again. */
  handleState(state: DetailedTask): void
  /** Aborts what the handlers have not answered. */
  close(): void
}

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
 * Answers each request of a task once, with the handlers of the call or the client (seps/2663-tasks-extension, task
 * update requests), while the task is watched. A request is aborted if it was answered elsewhere, or if the task has
 * ended. If the server's store loses an accepted answer, it is sent again without asking.
 */
export function createInputResponder(task: OpenTask, { options, onFailure }: InputResponderContext): InputResponder {
  const { host, tool, requestTracker } = task
  // Bounded by the questions of one task.
  const batches = new Set<InputRequestBatch>()
  let openKeys: ReadonlySet<string> = new Set()

  const answerBatch = async (batch: InputRequestBatch): Promise<void> => {
    const { requests, round, controller } = batch
    try {
      const callOptions = { ...options, signal: controller.signal }
      const input = { name: tool, inputRequests: Object.fromEntries(requests), round }
      const responses = await host.answerInput(input, callOptions)
      controller.signal.throwIfAborted()
      const openResponses = Object.entries(responses).filter(([key]) => openKeys.has(key))
      if (openResponses.length > 0) await sendAnswers(task, Object.fromEntries(openResponses), callOptions)
      requestTracker.markAnswered(responses)
    } catch (error) {
      if (controller.signal.aborted) return
      requestTracker.release(requests.keys())
      onFailure(error)
    } finally {
      batches.delete(batch)
    }
  }
  const cancelBatch = (batch: InputRequestBatch): void => {
    requestTracker.release(batch.requests.keys())
    batches.delete(batch)
    batch.controller.abort(new DOMException('The request of the task is no longer open', 'AbortError'))
  }
  // A request whose text has changed is asked anew: a server whose store was restored repeats steps, and may then ask
  // something else.
  const isOutdated = ({ requests: askedRequests }: InputRequestBatch, requests: InputRequests): boolean => {
    const keys = [...askedRequests.keys()].filter((key) => Object.hasOwn(requests, key))
    const isReplaced = ([key, request]: [string, InputRequest]): boolean =>
      keys.includes(key) && requestTracker.isReplaced(key, request)
    return keys.length === 0 || Object.entries(requests).some(isReplaced)
  }
  return {
    handleState: (state) => {
      const requests = openRequestsOf(state)
      openKeys = new Set(Object.keys(requests))
      requestTracker.observe(requests)
      for (const batch of batches) if (isOutdated(batch, requests)) cancelBatch(batch)
      const { newRequests, lostAnswers } = requestTracker.takeRequests(requests)
      void sendLostAnswers(task, lostAnswers, { options, onFailure })
      if (newRequests.size === 0) return
      const batch = { requests: newRequests, round: requestTracker.beginRound(), controller: new AbortController() }
      batches.add(batch)
      void answerBatch(batch)
    },
    close: () => {
      for (const batch of batches) cancelBatch(batch)
    },
  }
}

async function sendLostAnswers(
  task: OpenTask,
  answers: InputResponses,
  { options, onFailure }: InputResponderContext,
): Promise<void> {
  if (Object.keys(answers).length === 0) return
  try {
    await sendAnswers(task, answers, options)
  } catch (error) {
    if (!options.signal.aborted) onFailure(error)
  } finally {
    task.requestTracker.markAnswered(answers)
  }
}

/** A state's open requests, by key. */
export function openRequestsOf(state: DetailedTask): InputRequests {
  return state.status === 'input_required' ? state.inputRequests : {}
}

/**
 * Keeps sending until the server has accepted the answers, so that a transient failure does not lose what people typed.
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
      if (!isTemporary(error) || isTimedOut) throw error
    }
    await sleep(computeFailurePauseMs(failures, random), { clock, signal: options.signal })
  }
}
