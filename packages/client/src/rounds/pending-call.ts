import { defaultBounds, type InputRequests, isJsonObject, type JsonObject, findMethodRow } from '@x/schema'
import { type InputRequired, type MultiRoundMethod, parseInputRequired } from '../request/input-required.ts'

/**
 * A call that waits for input, as plain JSON. Any program that has this object can continue the call, in this process
 * or another.
 */
export interface PendingCall<M extends MultiRoundMethod = MultiRoundMethod> {
  readonly method: M
  /** Its tool, prompt or resource, and its arguments. */
  readonly params: JsonObject
  readonly requests: InputRequests
  /** The server's opaque state, unchanged. */
  readonly state?: string | undefined
  /** Responses so far. */
  readonly round: number
  /** Responses with a state but no question. Absent if there were none. */
  readonly handOffs?: number | undefined
}

/** Parses a stored pending call as untrusted input; an invalid value gives the reason. */
export function parsePendingCall(value: unknown):
  | {
      readonly method: MultiRoundMethod
      readonly params: JsonObject
      readonly inputRequired: InputRequired
      readonly round: number
      readonly handOffs: number
    }
  | { readonly issue: string } {
  if (!isWithinMessageBounds(value)) return { issue: 'it is larger than a message may be' }
  if (!isJsonObject(value)) return { issue: 'expected an object' }
  const { method } = value
  if (!isMultiRoundMethod(method)) return { issue: 'method: expected tools/call, prompts/get or resources/read' }
  const counts = parseCounts(value)
  if ('issue' in counts) return counts
  const call = parseCallParams(method, value.params)
  if ('issue' in call) return call
  const requiredInput = parseInputRequired({ inputRequests: value.requests, requestState: value.state })
  if ('issue' in requiredInput) return requiredInput
  return { method, params: call.params, inputRequired: requiredInput, ...counts }
}

function parseCounts({
  round,
  handOffs = 0,
}: JsonObject): { readonly round: number; readonly handOffs: number } | { readonly issue: string } {
  if (!isPositiveInteger(round)) return { issue: 'round: expected a whole number from 1' }
  if (handOffs === 0) return { round, handOffs }
  return isPositiveInteger(handOffs) && handOffs <= round
    ? { round, handOffs }
    : { issue: 'handOffs: expected a whole number up to round' }
}

function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}

function isMultiRoundMethod(method: unknown): method is MultiRoundMethod {
  return typeof method === 'string' && findMethodRow(method)?.canRequireInput === true
}

function parseCallParams(
  method: MultiRoundMethod,
  value: unknown,
): { readonly params: JsonObject } | { readonly issue: string } {
  if (!isJsonObject(value)) return { issue: 'params: expected an object' }
  const field = findMethodRow(method)?.targetParam ?? 'name'
  const target = value[field]
  if (typeof target !== 'string') return { issue: `params.${field}: expected a string` }
  const { arguments: args } = value
  if (field === 'uri' || args === undefined) return { params: { [field]: target } }
  return isJsonObject(args)
    ? { params: { name: target, arguments: args } }
    : { issue: 'params.arguments: expected an object' }
}

/**
 * True for a value within the limits of a message. Works without recursion, because the value may be deeply nested or
 * contain itself.
 */
function isWithinMessageBounds(value: unknown): boolean {
  const { bytes, depth, elements } = defaultBounds
  const pendingValues: { readonly value: unknown; readonly level: number }[] = [{ value, level: 0 }]
  let [codeUnitCount, memberCount] = [0, 0]
  for (let currentValue = pendingValues.pop(); currentValue; currentValue = pendingValues.pop()) {
    if (typeof currentValue.value === 'string') codeUnitCount += currentValue.value.length
    if (codeUnitCount > bytes || memberCount > elements || currentValue.level > depth) return false
    if (typeof currentValue.value !== 'object' || currentValue.value === null) continue
    for (const [key, member] of Object.entries(currentValue.value)) {
      codeUnitCount += key.length
      memberCount += 1
      pendingValues.push({ value: member, level: currentValue.level + 1 })
    }
  }
  return true
}
