import { type ClientEvent, isClientError } from '@x/client'
import { BoundedMap, isJsonObject, messageOf } from '@x/core'
import type { Middleware } from '@x/exchange'
import { projectMetaKeys, protocolVersion, type RpcResponse, type Tool } from '@x/schema'
import type { EventLog } from '../event-log.ts'
import type { CallView } from '../events.ts'
import { type ArmedFault, type FaultKind, isAnswer } from '../wire/fault.ts'
import type { Wire } from '../wire/wire.ts'
import { explainFault, type FaultyCall, findRemedy } from './explain-fault.ts'
import { type CallRequest, callRows, type DevClient } from './call-kinds.ts'
import { toJson } from './to-json.ts'

interface CallEntry {
  view: CallView
  readonly controller: AbortController
  readonly startedAt: number
  fault: { readonly kind: FaultKind; readonly isAnswer: boolean; laterCount: number } | undefined
}

export type CallEnd = Pick<CallView, 'status' | 'result' | 'error'>

const maxCalls = 200
/** Kept so that the next round of a host joins the same call. */
const maxHostStates = 1000

/** The calls of the page and those of hosts. They run in the command, so that the page can be loaded again. */
export class Calls {
  readonly #log: EventLog
  readonly #wire: Wire
  readonly #entries = new Map<number, CallEntry>()
  readonly #callByState = new BoundedMap<string, number>(maxHostStates)
  #lastId = 0
  #tools: readonly Tool[] = []

  constructor(log: EventLog, wire: Wire) {
    this.#log = log
    this.#wire = wire
    wire.onFault = (callId, kind, { params }) => this.#meet(callId, kind, isAnswer(params))
  }

  setTools(tools: readonly Tool[]): void {
    this.#tools = tools
  }

  /** Gives the result too, for a page that waits for it. */
  start(client: DevClient, request: CallRequest): { readonly id: number; readonly ended: Promise<CallEnd> } {
    const { target, args, kind } = request
    const { method, run } = callRows[kind]
    const entry = this.#open('page', { method, target, args })
    const { id } = entry.view
    const { signal } = entry.controller
    const options = { signal, onProgress: () => {}, onLog: () => {} }
    const ended = this.#wire.run(id, async (): Promise<CallEnd> => {
      try {
        return endOf(await run(client, request, options))
      } catch (error) {
        const isStopped = signal.aborted && signal.reason === stopReason
        return { status: isStopped ? 'stopped' : 'failed', result: undefined, error: describeCallError(error) }
      }
    })
    void ended.then((end) => this.#end(id, end))
    return { id, ended }
  }

  /** False if the call does not run. */
  stop(id: number): boolean {
    const entry = this.#entries.get(id)
    if (entry?.view.status !== 'running') return false
    entry.controller.abort(stopReason)
    return true
  }

  /** Ends the calls of the page whose request an older revision keeps open, because their process ends. */
  endOlder(revision: string | undefined): void {
    if (!isOlder(revision)) return
    const reason = `The request of a call of ${revision} is open in the process that ends, so the call ends with it. A host at /mcp is not affected, because mcpx dev speaks the newest revision of the server for it.`
    for (const { view, controller } of this.#entries.values())
      if (view.source === 'page' && view.status === 'running') controller.abort(new Error(reason))
  }

  /** Records the calls of hosts. A request that continues a call by its state joins it. */
  readonly hostCalls: Middleware = (next) => async (request, call) => {
    const { method, params = {} } = request
    const target = params['name'] ?? params['uri']
    if (typeof target !== 'string') return next(request, call)
    const state = params['requestState']
    const known = typeof state === 'string' ? this.#callByState.get(state) : undefined
    const args = isJsonObject(params['arguments']) ? params['arguments'] : {}
    const id = known ?? this.#open('host', { method, target, args }).view.id
    try {
      const response = await this.#wire.run(id, () => next(request, call))
      this.#takeHostResponse(id, response)
      return response
    } catch (error) {
      this.#end(id, { status: 'failed', result: undefined, error: describeCallError(error) })
      throw error
    }
  }

  /** Arms a fault for the next request. Undefined disarms the armed one. */
  arm(fault: ArmedFault | undefined): void {
    this.#wire.arm(fault)
  }

  /** A fault that waits for an answer cannot meet a call of an older revision. */
  rejectAnswerFault(revision: string | undefined): void {
    const { armed } = this.#wire
    if (armed?.at !== 'answer' || !isOlder(revision)) return
    this.#wire.arm(undefined)
    this.note(
      `A call of ${revision} has no second request, so a fault of the answer cannot happen to it. The fault is disarmed.`,
    )
  }

  close(): void {
    for (const { view } of this.#entries.values()) this.stop(view.id)
  }

  #takeHostResponse(id: number, response: RpcResponse): void {
    if ('error' in response)
      return this.#end(id, { status: 'failed', result: undefined, error: response.error.message })
    const { resultType, requestState } = response.result
    if (resultType === 'input_required' && typeof requestState === 'string') {
      this.#callByState.set(requestState, id)
      return
    }
    this.#end(id, endOf(response.result))
  }

  #open(source: CallView['source'], call: Pick<CallView, 'method' | 'target' | 'args'>): CallEntry {
    this.#lastId += 1
    const view: CallView = {
      id: this.#lastId,
      source,
      ...call,
      status: 'running',
      startedAt: Date.now(),
      durationMs: undefined,
      result: undefined,
      error: undefined,
      lesson: undefined,
      remedy: undefined,
    }
    const entry: CallEntry = { view, controller: new AbortController(), startedAt: performance.now(), fault: undefined }
    this.#entries.set(view.id, entry)
    for (const [id, { view: other }] of this.#entries)
      if (this.#entries.size > maxCalls && other.status !== 'running') this.#entries.delete(id)
    this.#log.append({ type: 'call', call: view })
    return entry
  }

  #end(id: number, end: CallEnd): void {
    const entry = this.#entries.get(id)
    if (entry === undefined) return
    const durationMs = performance.now() - entry.startedAt
    const lesson = this.#lessonOf(entry, end)
    const remedy = lesson === undefined ? findRemedy(end.error) : undefined
    entry.view = { ...entry.view, ...end, durationMs, lesson, remedy }
    this.#log.append({ type: 'call', call: entry.view })
  }

  #lessonOf({ view, fault }: CallEntry, { status, error }: CallEnd): string | undefined {
    if (fault === undefined) return undefined
    const tool = this.#tools.find(({ name }) => name === view.target)
    return explainFault({ ...fault, status, error, hint: tool && repeatHintOf(tool) })
  }

  #meet(callId: number, kind: FaultKind, isOfAnswer: boolean): void {
    const entry = this.#entries.get(callId)
    if (entry !== undefined) entry.fault = { kind, isAnswer: isOfAnswer, laterCount: 0 }
  }

  /** Records what the page's client decides. */
  observe(event: ClientEvent): void {
    const { callId } = this.#wire
    if (event.type === 'resend') {
      const fault = callId === undefined ? undefined : this.#entries.get(callId)?.fault
      if (fault !== undefined) fault.laterCount += 1
      this.note(`sends again in ${Math.round(event.pauseMs)} ms, after ${event.reason}`)
    }
    if (event.type === 'answer') this.note(`answers "${event.key}": ${event.action}`)
    if (event.type === 'round' && event.isRestarted) this.note('starts the call again, because its state was rejected')
  }

  /** Adds a note to the call that runs. */
  note(text: string): void {
    this.#log.append({ type: 'client', callId: this.#wire.callId, text })
  }
}

const stopReason = new DOMException('Stopped by the user', 'AbortError')

function endOf(result: object): CallEnd {
  const isError = 'isError' in result && result.isError === true
  return { status: isError ? 'tool_error' : 'done', result: toJson(result), error: undefined }
}

function repeatHintOf({ annotations, _meta }: Tool): FaultyCall['hint'] {
  if (annotations?.readOnlyHint === true) return 'readOnlyHint'
  if (annotations?.idempotentHint === true) return 'idempotentHint'
  return _meta?.[projectMetaKeys.keyedEffects] === true ? 'keyedEffects' : undefined
}

function isOlder(revision: string | undefined): boolean {
  return revision !== undefined && revision !== protocolVersion
}

function describeCallError(error: unknown): string {
  if (isClientError(error) && error.rpc !== undefined) return `${error.rpc.message} (${error.rpc.code})`
  return messageOf(error)
}
