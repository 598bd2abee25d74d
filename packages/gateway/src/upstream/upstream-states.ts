import { codeOf, openAbortScope, type Log } from '@x/core'
import type { Call, Exchange, ConnectionState } from '@x/exchange'
import { ConnectionStateSource } from '@x/exchange/internal'
import { errorResponse, type McpError, type RpcRequest, type RpcResponse } from '@x/schema'
import type { Deps, HopOptions } from '../hop/hop-options.ts'
import { awayError, credentialError, noAnswerError, notStartedError } from '../hop/upstream-error.ts'
import type { Availability } from './availability.ts'

/** A host gives a call about a minute. */
const loginWaitMs = 20_000

/** Finds a login that is open in a browser. A state without one may need a login, too. */
function findOpenLogin({ status, reason }: ConnectionState): Error | undefined {
  if (status !== 'login_needed' || reason === undefined) return undefined
  return codeOf(reason) === 'login_pending' ? reason : undefined
}

/**
 * An upstream has the state of its latest connection. Where connections do not say theirs, it follows from answers and
 * failures. If callers have credentials, each has a connection of its own, which says nothing here.
 */
export class UpstreamStates {
  readonly source = new ConnectionStateSource()
  readonly #availability: Availability
  readonly #deps: Deps
  /** False for connections that do not say their state. */
  #hasStates = false
  #cause: unknown
  #awayAt = 0
  #isMissed = false
  // Bounded by the streams of changes (`streams`).
  readonly #listListeners = new Set<() => void>()

  constructor(availability: Availability, deps: Deps) {
    this.#availability = availability
    this.#deps = deps
    availability.onChange(() => {
      const { status, reason } = this.source.state
      this.#logChange(availability.state === 'away')
      if (availability.state !== 'away') this.source.open()
      // A connection says more of the cause.
      else if (!this.#hasStates || status === 'open' || reason === undefined) this.source.lose(this.createAwayError(0))
    })
  }

  /**
   * Makes the log of an upstream. An outage is one failure, the line that calls are refused, and the one that the
   * upstream is back: each call and probe that fails meanwhile is of the level `debug`.
   */
  createLog(): Log {
    const { log } = this.#deps
    return (record) => {
      const isRepeated = record.level === 'error' && this.#availability.failures > 1
      log(isRepeated ? { ...record, level: 'debug' } : record)
    }
  }

  #logChange(isAway: boolean): void {
    const { name, log, runtime } = this.#deps
    const now = runtime.monotonicNow()
    if (isAway) {
      this.#awayAt = now
      const { message } = this.createAwayError(0)
      log({ level: 'warn', code: 'upstream_away', name, message: `${message}. Calls are refused until it answers` })
    } else {
      const seconds = Math.round((now - this.#awayAt) / 1000)
      log({ level: 'info', code: 'upstream_back', name, message: `It answers again, after ${seconds} s` })
    }
  }

  /** True if the upstream has never answered. */
  get isNew(): boolean {
    return this.#availability.answers === 0
  }

  /** For a request that is not sent, because the upstream has given no answers. */
  createAwayError(retryAfterMs: number): McpError {
    return awayError(this.#deps.name, retryAfterMs, { cause: this.#cause, isNew: this.isNew })
  }

  /** Listens to the hop. */
  createReport(hasCredentials: boolean): Pick<HopOptions, 'isNew' | 'onAnswer' | 'onFailure' | 'onState'> {
    return {
      isNew: () => this.isNew,
      onAnswer: () => {
        this.#availability.succeed()
        if (!this.#hasStates) this.source.open()
      },
      onFailure: (error) => this.fail(error),
      onState: (state) => {
        // One caller without a credential says nothing about the others.
        if (hasCredentials) return
        this.#hasStates = true
        const { status, reason } = state
        // A new connection has not been open yet, but the upstream may have been. One whose process is not started
        // again is closed, but the upstream is not: the gateway opens another connection.
        if ((status === 'connecting' || status === 'closed') && reason !== undefined) this.source.lose(reason)
        else this.source.set(state)
      },
    }
  }

  /** Notes a request without an answer. A user who must log in is no failure of the upstream. */
  fail(error?: unknown): void {
    if (this.source.state.status === 'login_needed') return
    this.#cause = error
    if (!this.#hasStates) this.source.lose(noAnswerError(this.#deps.name, { begun: false, cause: error }))
    this.#availability.fail()
  }

  /** Notes that a process has not answered anything yet, which is no failure. */
  awaitStart(): void {
    if (this.source.state.reason === undefined) this.source.lose(notStartedError(this.#deps.name))
  }

  /** Notes whether a list has the upstream's part. */
  setMissed(isMissed: boolean): void {
    this.#isMissed = isMissed
  }

  /** Notifies of an answer that came too late for the last list. */
  changeLists(): void {
    for (const listener of this.#listListeners) listener()
  }

  /** Calls a function when other tools can be offered: the upstream went away or opened, or a user has logged in. */
  onListsChange(listener: () => void): () => void {
    let last = this.source.state.status
    this.#listListeners.add(listener)
    const removals = [
      () => this.#listListeners.delete(listener),
      this.#availability.onChange(listener),
      this.source.onStateChange(({ status }) => {
        if (status === 'open' && (last === 'login_needed' || this.#isMissed)) listener()
        last = status
      }),
    ]
    return () => {
      for (const remove of removals) remove()
    }
  }

  /**
   * Sends a request, and gives it up when it has waited long enough for one login of a user: the error says which. The
   * login stays open for the next call, and this one is cancelled, so that it does not run after the login unnoticed.
   */
  async limitLogin(send: Exchange, request: RpcRequest, call: Call): Promise<RpcResponse> {
    // A connection says for the first time what it waits for while the first request runs.
    if (!this.#hasStates && !this.isNew) return send(request, call)
    const { name, runtime } = this.#deps
    const scope = openAbortScope(call.signal)
    const { principal, context, notify } = call
    let timer: unknown
    const endWait = (): void => {
      runtime.clearTimeout(timer)
      timer = undefined
    }
    let onState = (_state: ConnectionState): void => {}
    const stopped = new Promise<RpcResponse>((resolve) => {
      const stop = (login: Error): void => {
        scope.stop(login)
        resolve(errorResponse(request.id, credentialError(name, login)))
      }
      onState = (state) => {
        const login = findOpenLogin(state)
        if (login === undefined) endWait()
        else timer ??= runtime.setTimeout(() => stop(login), loginWaitMs)
      }
    })
    const remove = this.source.onStateChange(onState)
    try {
      onState(this.source.state)
      return await Promise.race([send(request, { principal, context, notify, signal: scope.signal }), stopped])
    } finally {
      remove()
      endWait()
      scope.close()
    }
  }
}
