import { errorRecord, type JsonObject, type Ledger, type Log, type Runtime, withTimeout } from '@x/core'
import type { Call, HttpAuthorizer } from '@x/exchange'
import { errorCodes, type Implementation, type RpcRequest, type RpcResponse } from '@x/schema'
import { Availability } from './availability.ts'
import { connectHop, type Hop, serverHop } from '../hop/hop.ts'
import { PinnedTools } from './pinned-tools.ts'
import type { GatewayState } from '../names/state.ts'
import { createToolNames, type ToolNames } from './tool-rules.ts'
import {
  type CallerCredential,
  type CredentialSource,
  type GatewayUpstream,
  isServer,
  type LoginRequired,
  noCredential,
} from './upstream.ts'
import { credentialError, findCredentialError, findNeededLogin, noAnswerError } from '../hop/upstream-error.ts'

/** Milliseconds that each upstream has for its part of a merged result. A slow upstream is omitted. */
export const listTimeoutMs = 5000

/** An upstream of a gateway. */
export interface Member {
  readonly name: string
  readonly hop: Hop
  readonly availability: Availability
  readonly toolNames: ToolNames
  /** Absent if the definitions of tools may change. */
  readonly pins: PinnedTools | undefined
  readonly required: boolean
  /** Absent if `connect` has one credential for all callers, or the upstream is in this process. */
  readonly credential: CredentialSource | undefined
}

/** A request of a host to a gateway. */
export interface HostRequest {
  readonly request: RpcRequest
  readonly call: Call
  readonly parts: GatewayParts
}

/** The shared state of one gateway. */
export interface GatewayParts {
  readonly info: Implementation
  readonly members: ReadonlyMap<string, Member>
  readonly state: GatewayState
  /** The id of this instance, in the states of calls that only its process can continue. */
  readonly instance: string
  /** Aborts when the gateway closes. */
  readonly closed: AbortSignal
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
}

/** The dependencies that every {@link Member} shares. */
export interface MemberDeps {
  readonly ledger: Ledger
  readonly runtime: Runtime
  readonly log: Log
}

/** @throws TypeError for rules of tools that contradict one another. */
export function createMember(name: string, upstream: GatewayUpstream, deps: MemberDeps): Member {
  const availability = new Availability(deps.runtime)
  const hopOptions = { ...deps, name, availability }
  if (isServer(upstream)) {
    const hop = serverHop(upstream, hopOptions)
    const [toolNames, required] = [createToolNames({}), false]
    return { name, hop, availability, toolNames, pins: undefined, required, credential: undefined }
  }
  const { credential, tools = {}, timeoutMs, required = false } = upstream
  const toolNames = createToolNames(tools)
  const hop = connectHop(upstream, { ...hopOptions, timeoutMs, hasCredentials: credential !== undefined })
  const pins = tools.pins && new PinnedTools({ pins: tools.pins, upstream: name, clock: deps.runtime, log: deps.log })
  return { name, hop, availability, toolNames, pins, required, credential }
}

const knownCredentials = new WeakMap<HttpAuthorizer, Pick<CallerCredential, 'id'> & { readonly auth: HttpAuthorizer }>()
let lastCredentialId = 0

/**
 * Returns the credential of a caller at an upstream, or the page at which the caller gets one. Rejects with a
 * {@link credentialError} for a caller that can have none.
 */
export async function findCredential(
  { credential, name }: Member,
  { call: { principal }, request: { method }, parts: { log } }: HostRequest,
): Promise<CallerCredential | LoginRequired> {
  if (credential === undefined) return noCredential
  try {
    const found = await credential(principal)
    if ('loginUrl' in found) return found
    const { id, auth } = knownCredentials.get(found) ?? addCredential(found, name)
    return { id, caller: { principal, auth } }
  } catch (error) {
    log(errorRecord(error, { method, name }))
    throw credentialError(name, error)
  }
}

function addCredential(found: HttpAuthorizer, name: string): { readonly id: string; readonly auth: HttpAuthorizer } {
  lastCredentialId += 1
  const known = { id: String(lastCredentialId), auth: withCredentialErrors(found, name) }
  knownCredentials.set(found, known)
  return known
}

/**
 * Marks the errors of an authorizer, because a caller without a token must not make the upstream count as unreachable.
 */
function withCredentialErrors(auth: HttpAuthorizer, name: string): HttpAuthorizer {
  const mark = async <T>(run: () => T | Promise<T>): Promise<T> => {
    try {
      return await run()
    } catch (error) {
      throw credentialError(name, error)
    }
  }
  return {
    headers: (target) => mark(() => auth.headers(target)),
    onResponse: (head, target) =>
      mark(async () => {
        const decision = await auth.onResponse(head, target)
        if (decision === undefined && head.status === 401) throw new Error('The upstream refuses the credential')
        return decision
      }),
  }
}

/** The response of an upstream to its part of a merged request. */
export type MemberAnswer =
  | { readonly result: JsonObject }
  | { readonly login: LoginRequired }
  | { readonly isAway: boolean }

/**
 * Sends a request for a merged result to an upstream. An upstream that gives no answer within the limit is unreachable.
 * An upstream that does not serve the method is reachable, and has no part of the result.
 */
export async function askMember(member: Member, host: HostRequest): Promise<MemberAnswer> {
  const { request, call, parts } = host
  const { runtime, log } = parts
  const { name, hop, availability } = member
  const createTimeoutError = (): Error => noAnswerError(name, listTimeoutMs)
  const limits = { timeoutMs: listTimeoutMs, clock: runtime, createTimeoutError, signal: call.signal }
  try {
    const credential = await findCredential(member, host)
    if ('loginUrl' in credential) return { login: credential }
    const { principal, context, notify } = call
    const response = await withTimeout(limits, (signal) =>
      hop.exchange(request, { principal, context, notify, signal }, credential),
    )
    return toAnswer(response)
  } catch (error) {
    if (!call.signal.aborted && findCredentialError(error) === undefined) {
      availability.fail()
      log(errorRecord(error, { method: request.method, name }))
    }
    return { isAway: true }
  }
}

function toAnswer(response: RpcResponse): MemberAnswer {
  if ('result' in response) return { result: response.result }
  const login = findNeededLogin(response)
  return login !== undefined ? { login } : { isAway: response.error.code !== errorCodes.methodNotFound }
}
