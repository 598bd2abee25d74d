import { errorCodes, type JsonValue, McpError } from '@x/schema'
import type { RequestState } from './served-request.ts'
import { type Journal, writeJournal } from './journal.ts'

/**
 * Returns the error of a call whose state cannot be sealed because of values that its client sent: arguments that have no
 * canonical form, to which the state is bound, or answers that take more than half of a journal that is too large.
 * Undefined where the reason is another one.
 */
export function unsealableValues(error: unknown, journal: Journal, { params }: RequestState): McpError | undefined {
  if (!(error instanceof Error) || error.name !== 'StateUsageError' || !('code' in error)) return undefined
  let reason: string | undefined
  if (error.code === 'too_large') reason = sizeProblem(journal)
  if (error.code === 'not_json') {
    reason =
      problemIn(params['arguments'], { path: 'arguments', depth: 0 }) ??
      problemIn(answersIn(journal), { path: 'inputResponses', depth: 0 })
  }
  return reason === undefined ? undefined : new McpError(errorCodes.invalidParams, reason)
}

/** The answers that a journal holds, by the keys of their questions. */
function answersIn({ questions, explicit }: Journal): JsonValue {
  const asked = Array.from(questions, ([key, { response }]) => [key, response] as const)
  return Object.fromEntries([...asked, ...(explicit?.responses ?? [])])
}

function sizeProblem(journal: Journal): string | undefined {
  const size = JSON.stringify(answersIn(journal)).length
  if (size * 2 < JSON.stringify(writeJournal(journal)).length) return undefined
  return `inputResponses has answers of ${size} characters in all, which is more than requestState can carry`
}

const halfPair = /\p{Surrogate}/u
const deepest = 256

interface StateLocation {
  readonly path: string
  readonly depth: number
}

/** Finds the first value that a parser of JSON lets through and that has no canonical form (RFC 8785). */
function problemIn(value: JsonValue | undefined, { path, depth }: StateLocation): string | undefined {
  const problem = scalarProblem(value) ?? (depth > deepest ? `is deeper than ${deepest} levels` : undefined)
  if (problem !== undefined) return `${path.slice(0, 200)} ${problem}`
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const inside = { path: `${path}/${JSON.stringify(key).slice(1, -1)}`.slice(0, 300), depth: depth + 1 }
    const found = problemIn(key, inside) ?? problemIn(member, inside)
    if (found !== undefined) return found
  }
  return undefined
}

function scalarProblem(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string' && halfPair.test(value)) return 'has half of a surrogate pair'
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that is too large'
  return undefined
}
