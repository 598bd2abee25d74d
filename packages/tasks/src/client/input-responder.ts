import { sleep } from '@x/core'
import type { InputRequest, InputRequests, InputResponses } from '@x/schema'
import type { DetailedTask } from '../schema/task.ts'
import type { OpenTask } from './open-task.ts'
import { computeFailurePauseMs, isTemporary } from './settings.ts'
import { updateTask } from './task-requests.ts'
import type { WatchTaskOptions } from './watch-task.ts'

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
export class InputResponder {
  readonly #task: OpenTask
  readonly #options: WatchTaskOptions
  readonly #onFailure: (error: unknown) => void
  // Bounded by the questions of one task.
  readonly #batches = new Set<InputRequestBatch>()
  #openKeys: ReadonlySet<string> = new Set()

  constructor(task: OpenTask, options: WatchTaskOptions, onFailure: (error: unknown) => void) {
    this.#task = task
    this.#options = options
    this.#onFailure = onFailure
  }

  /** Asks a state's new requests, aborts those that the task no longer has, and sends lost answers again. */
  handleState(state: DetailedTask): void {
    const { requestTracker } = this.#task
    const requests = openRequestsOf(state)
    this.#openKeys = new Set(Object.keys(requests))
    requestTracker.observe(requests)
    for (const batch of this.#batches) if (this.#isOutdated(batch, requests)) this.#cancelBatch(batch)
    const { newRequests, lostAnswers } = requestTracker.takeRequests(requests)
    void this.#sendLostAnswers(lostAnswers)
    if (newRequests.size === 0) return
    const batch = { requests: newRequests, round: requestTracker.beginRound(), controller: new AbortController() }
    this.#batches.add(batch)
    void this.#answerBatch(batch)
  }

  /** Aborts what the handlers have not answered. */
  close(): void {
    for (const batch of this.#batches) this.#cancelBatch(batch)
  }

  async #answerBatch(batch: InputRequestBatch): Promise<void> {
    const { host, tool, requestTracker } = this.#task
    const { requests, round, controller } = batch
    try {
      const callOptions = { ...this.#options, signal: controller.signal }
      const input = { name: tool, inputRequests: Object.fromEntries(requests), round }
      const responses = await host.answerInput(input, callOptions)
      controller.signal.throwIfAborted()
      const openResponses = Object.entries(responses).filter(([key]) => this.#openKeys.has(key))
      if (openResponses.length > 0) await sendAnswers(this.#task, Object.fromEntries(openResponses), callOptions)
      requestTracker.markAnswered(responses)
    } catch (error) {
      if (controller.signal.aborted) return
      requestTracker.release(requests.keys())
      this.#onFailure(error)
    } finally {
      this.#batches.delete(batch)
    }
  }

  #cancelBatch(batch: InputRequestBatch): void {
    this.#task.requestTracker.release(batch.requests.keys())
    this.#batches.delete(batch)
    batch.controller.abort(new DOMException('The request of the task is no longer open', 'AbortError'))
  }

  // A request whose text has changed is asked anew: a server whose store was restored repeats steps, and may then ask
  // something else.
  #isOutdated({ requests: askedRequests }: InputRequestBatch, requests: InputRequests): boolean {
    const keys = [...askedRequests.keys()].filter((key) => Object.hasOwn(requests, key))
    const isReplaced = ([key, request]: [string, InputRequest]): boolean =>
      keys.includes(key) && this.#task.requestTracker.isReplaced(key, request)
    return keys.length === 0 || Object.entries(requests).some(isReplaced)
  }

  async #sendLostAnswers(answers: InputResponses): Promise<void> {
    if (Object.keys(answers).length === 0) return
    try {
      await sendAnswers(this.#task, answers, this.#options)
    } catch (error) {
      if (!this.#options.signal.aborted) this.#onFailure(error)
    } finally {
      this.#task.requestTracker.markAnswered(answers)
    }
  }
}

/** A state's open requests, by key. */
export function openRequestsOf(state: DetailedTask): InputRequests {
  return state.status === 'input_required' ? state.inputRequests : {}
}

/**
 * Keeps sending until the server has accepted the answers, so that a transient failure does not lose what people typed.
 */
async function sendAnswers(task: OpenTask, responses: InputResponses, options: WatchTaskOptions): Promise<void> {
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
