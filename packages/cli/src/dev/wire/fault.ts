import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from '@x/core'

/** What can go wrong between a client and a server. */
export const faultKinds = ['lose', 'twice', 'kill', 'later', 'argument', 'state', 'user'] as const

export type FaultKind = (typeof faultKinds)[number]

/** A fault that waits for its request. */
export interface ArmedFault {
  readonly kind: FaultKind
  /** Which request it meets: the next of a call, or the next that carries the answer to a question. */
  readonly at: 'request' | 'answer'
  /** How long `later` holds the response. */
  readonly delayMs: number
}

/** `user` needs a second user, whose token the command line gives. */
export const faults: Readonly<Record<FaultKind, { readonly isOfAnswer: boolean; readonly needsProcess: boolean }>> = {
  lose: { isOfAnswer: false, needsProcess: false },
  twice: { isOfAnswer: false, needsProcess: false },
  kill: { isOfAnswer: false, needsProcess: true },
  later: { isOfAnswer: false, needsProcess: false },
  argument: { isOfAnswer: true, needsProcess: false },
  state: { isOfAnswer: true, needsProcess: false },
  user: { isOfAnswer: false, needsProcess: false },
}

/** True for a request that carries the answer to a question, or continues a call in another way. */
export function isAnswer(params: JsonValue | undefined): boolean {
  return isJsonObject(params) && typeof params['requestState'] === 'string'
}

/** Changes an argument, or a character in the state. Any other fault leaves the request as it is. */
export function alterRequest(request: JsonObject, kind: FaultKind | undefined): JsonObject {
  const { params } = request
  if (!isJsonObject(params)) return request
  if (kind === 'argument') {
    const given = isJsonObject(params['arguments']) ? params['arguments'] : {}
    return { ...request, params: { ...params, arguments: alterArguments(given) } }
  }
  const state = params['requestState']
  if (kind !== 'state' || typeof state !== 'string') return request
  return { ...request, params: { ...params, requestState: alterText(state) } }
}

/** Says whether the response to a request that was sent again is the one to the first. Their states are never equal. */
export function noteOfCopy(first: string, copy: string): string {
  const isSame = contentWithoutState(first) === contentWithoutState(copy)
  return `the response to the copy, ${isSame ? 'the same as' : 'another one than'} the first; the client never sees it`
}

function contentWithoutState(text: string): string {
  const { result, error } = parseJsonObject(text) ?? {}
  const content = isJsonObject(result) ? { ...result, requestState: null } : error
  return JSON.stringify(content)
}

/** The new value of the first argument has the same type, so that the schema of the tool still accepts it. */
function alterArguments(args: JsonObject): JsonObject {
  const [first] = Object.entries(args)
  if (first === undefined) return { changed: true }
  const [name, value] = first
  return { ...args, [name]: alterValue(value ?? null) }
}

function alterValue(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return typeof value === 'string' ? `${value}!` : null
}

/** Changes the middle, so that the change meets the content of a state and not its framing. */
function alterText(text: string): string {
  const middle = Math.floor(text.length / 2)
  return text.slice(0, middle) + (text[middle] === 'A' ? 'B' : 'A') + text.slice(middle + 1)
}
