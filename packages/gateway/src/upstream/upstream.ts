import { errorRecord, isCancelled, type JsonObject, quoteText, settlesWithin, withTimeout } from '@x/core'
import type { Call, Exchange } from '@x/exchange'
import { errorCodes, errorResponse, type McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import { createHop, observeHop } from '../hop/hop.ts'
import { type CallerCredential, type Deps, type Hop, noCredential } from '../hop/hop-options.ts'
import {
  credentialError,
  findCredentialError,
  findNeededLogin,
  type LoginRequired,
  noAnswerError,
  notStartedError,
} from '../hop/upstream-error.ts'
import { Availability } from './availability.ts'
import { type CredentialSource, toCallerCredential } from './credential.ts'
import { KeptLists } from './kept-lists.ts'
import { PinnedTools } from './pinned-tools.ts'
import { type GatewayUpstream, type ResolvedUpstream, resolveUpstream } from './upstream-options.ts'
import { UpstreamStates } from './upstream-states.ts'

/** Milliseconds that each upstream has for its part of a merged result. A slow one is omitted. */
// limit: lists | ms | the part of one upstream in a list | the part is left out
export const listTimeoutMs = 5000
/** A host reads four or five lists at its start, and gives all of them together about 30 seconds. */
// limit: lists beside a silent upstream | ms | the part of one upstream that did not answer the last list | the part is left out
const silentListTimeoutMs = 1000
/** A model waits for a list before each of its turns, as long as one upstream is broken. */
// limit: further lists beside a silent upstream | ms | the part of one upstream that did not answer the last two lists | the part is left out
const brokenListTimeoutMs = 100

const lateCredentialMessage = `The credential of the caller took longer than ${listTimeoutMs} ms`

/** An upstream's answer to its part of a merged request. */
export type UpstreamAnswer =
  | { readonly result: JsonObject }
  | { readonly login: LoginRequired }
  | { readonly isAway: boolean }

/** True if an upstream gave no answer. One that does not serve the method has answered. */
export function isAway(answer: UpstreamAnswer | undefined): boolean {
  return answer !== undefined && 'isAway' in answer && answer.isAway
}

/** A server behind the gateway, with what this instance decides about it: rules, pins, credentials, availability. */
export class Upstream {
  readonly name: string
  readonly hop: Hop
  readonly availability: Availability
  readonly states: UpstreamStates
  readonly toolNames: ResolvedUpstream['toolNames']
  /** Absent if the definitions of tools may change. */
  readonly pins: PinnedTools | undefined
  readonly required: boolean
  /** Absent if `connect` has one credential for all callers, or the upstream is in this process. */
  readonly credential: CredentialSource | undefined
  readonly #deps: Deps
  /** How many messages had arrived when a list had no answer. The next message ends the silence. */
  #answersBeforeSilence: number | undefined
  #hasWaitedInSilence = false
  /**
   * Absent for an upstream in this process, whose lists may depend on more than the caller, and for one with pins,
   * which a search checks as often as a list.
   */
  readonly #keptLists: KeptLists | undefined

  /** @throws TypeError and RangeError as {@link resolveUpstream}. */
  constructor(options: GatewayUpstream, givenDeps: Deps) {
    const { target, toolNames, pins, ...own } = resolveUpstream(options, givenDeps.name)
    const availability = new Availability(givenDeps.runtime, () => this.hop.probe())
    this.states = new UpstreamStates(availability, givenDeps)
    const deps: Deps = { ...givenDeps, log: this.states.createLog() }
    const { credential, timeoutMs, required } = own
    const hopOptions = {
      ...deps,
      ...this.states.createReport(credential !== undefined),
      timeoutMs,
      limitsStart: true,
      hasCredentials: credential !== undefined,
    }
    this.name = deps.name
    this.toolNames = toolNames
    this.hop = createHop(target, hopOptions)
    this.pins = pins && new PinnedTools(pins, deps)
    this.availability = availability
    this.required = required
    this.credential = credential
    this.#deps = deps
    this.#keptLists = 'exchange' in target || this.pins !== undefined ? undefined : new KeptLists(deps.runtime)
    availability.onChange(() => {
      if (availability.state === 'away') this.hop.replaceProcess()
    })
    if ('exchange' in target) this.states.source.open()
  }

  async close(reason: Error): Promise<void> {
    this.states.source.close(reason)
    await this.hop.close()
  }

  /**
   * Logs the rules of tools that match nothing or hide a tool, after a complete list. A misspelt `deny` would deny
   * nothing unnoticed.
   */
  reportUnmatchedRules(): void {
    const warn = (message: string): void =>
      this.#deps.log({ level: 'warn', code: 'tool_rule_unmatched', name: this.name, message })
    const rules = this.toolNames.takeUnmatched()
    if (rules.length > 0) warn(`These rules match no tool of ${this.name}, and have no effect: ${rules.join(', ')}`)
    for (const [tool, renamed] of this.toolNames.takeHidden()) {
      const advice = `rename ${quoteText(tool)} as well, or deny it`
      warn(
        `The tool ${quoteText(tool)} of ${this.name} is hidden, because ${quoteText(renamed)} is renamed to its name: ${advice}`,
      )
    }
  }

  /** Sends a request, unless the upstream is unreachable and does not answer a probe. */
  async exchange(request: RpcRequest, call: Call, credential: CallerCredential): Promise<RpcResponse> {
    const retryAfterMs = await this.availability.check()
    if (isCancelled(call)) throw call.signal.reason
    if (retryAfterMs !== undefined) return errorResponse(request.id, this.states.createAwayError(retryAfterMs))
    const send: Exchange = (sent, sentCall) => this.hop.exchange(sent, sentCall, credential)
    const observed = observeHop(this.name, send, call)
    return this.states.limitLogin(observed, request, call)
  }

  /**
   * Finds a caller's credential, or the page at which the caller gets one. Rejects with a `credentialError` for a
   * caller that can have none.
   */
  async findCredential({ method }: RpcRequest, { principal }: Call): Promise<CallerCredential | LoginRequired> {
    if (this.credential === undefined) return noCredential
    try {
      const found = await this.credential(principal)
      return 'loginUrl' in found ? found : toCallerCredential(found, principal, this.name)
    } catch (error) {
      this.#deps.log(errorRecord(error, { method, name: this.name }))
      throw credentialError(this.name, error)
    }
  }

  /**
   * The same as {@link ask}, for the list of a host, which reads one after the other: an upstream delays only the first
   * that it does not answer. It is asked for the others too, but hardly waited for, and a late answer changes the lists.
   */
  async askForList(request: RpcRequest, call: Call): Promise<UpstreamAnswer> {
    const { isSilent } = this
    const waitMs = this.#hasWaitedInSilence ? brokenListTimeoutMs : silentListTimeoutMs
    this.#hasWaitedInSilence = isSilent
    const answer = this.ask(request, call)
    if (!isSilent || (await settlesWithin(answer, waitMs, this.#deps.runtime))) return answer
    this.states.setMissed(true)
    void answer.then((late) => {
      if (!isAway(late)) this.states.changeLists()
    })
    return { isAway: true }
  }

  /** True if the upstream has sent nothing since a list missed its part, or is unreachable. */
  get isSilent(): boolean {
    const { state, answers } = this.availability
    return state === 'away' || answers === this.#answersBeforeSilence
  }

  /** For a request that needs a list of the upstream, after an answer without one. */
  async createMissingListError(): Promise<McpError> {
    const retryAfterMs = await this.availability.check()
    if (retryAfterMs !== undefined) return this.states.createAwayError(retryAfterMs)
    if (this.hop.isStarting) return notStartedError(this.name)
    const { isNew, source } = this.states
    return noAnswerError(this.name, { begun: false, cause: source.state.reason, isNew })
  }

  #noteMissed(isMissed: boolean): void {
    this.states.setMissed(isMissed)
    if (isMissed) this.#answersBeforeSilence = this.availability.answers
  }

  /**
   * Sends a request for a merged result. An upstream that gives no answer within the limit is unreachable. One that
   * does not serve the method is reachable, and has no part of the result.
   */
  async ask(request: RpcRequest, call: Call): Promise<UpstreamAnswer> {
    const { runtime, log } = this.#deps
    const { method } = request
    const isRepeated = this.isSilent
    let hasCredential = false
    let lateCredential: Error | undefined
    const createTimeoutError = (): Error => {
      if (!hasCredential) return (lateCredential = credentialError(this.name, new Error(lateCredentialMessage)))
      return this.hop.isStarting
        ? notStartedError(this.name)
        : noAnswerError(this.name, { begun: false, limitMs: listTimeoutMs })
    }
    const limits = { timeoutMs: listTimeoutMs, clock: runtime, createTimeoutError, signal: call.signal }
    try {
      return await withTimeout(limits, async (signal) => {
        const credential = await this.findCredential(request, call)
        hasCredential = true
        if ('loginUrl' in credential) return { login: credential }
        const { principal, context, notify } = call
        return this.#requestPart(request, { principal, context, notify, signal }, credential)
      })
    } catch (error) {
      const isOfCaller = findCredentialError(error) !== undefined
      if (call.signal.aborted || (isOfCaller && error !== lateCredential)) return { isAway: true }
      if (!isOfCaller) {
        this.#noteMissed(true)
        if (this.hop.isStarting) this.states.awaitStart()
        else this.states.fail()
      }
      const record = errorRecord(error, { method, name: this.name })
      log(isRepeated ? { ...record, level: 'debug' } : record)
      return { isAway: true }
    }
  }

  async #requestPart(request: RpcRequest, call: Call, credential: CallerCredential): Promise<UpstreamAnswer> {
    const kept = this.#keptLists?.find(request, call, credential)
    if (kept !== undefined) return { result: kept }
    const first = await this.exchange(request, call, credential)
    // A process that ended meanwhile is started again. Without this, the host would miss its tools for one list.
    const isRestarting = 'error' in first && this.states.source.state.status === 'restarting'
    const answer = toUpstreamAnswer(isRestarting ? await this.exchange(request, call, credential) : first)
    this.#noteMissed(isAway(answer))
    if ('result' in answer) this.#keptLists?.add(answer.result, { request, call, credential })
    return answer
  }
}

function toUpstreamAnswer(response: RpcResponse): UpstreamAnswer {
  if ('result' in response) return { result: response.result }
  const login = findNeededLogin(response)
  return login !== undefined ? { login } : { isAway: response.error.code !== errorCodes.methodNotFound }
}
