import type { ElicitAnswer } from '@x/client'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { protocolVersions } from '@x/schema'
import type { WantedRevision } from '../target/target.ts'
import { type FaultKind, faultKinds } from '../wire/fault.ts'
import { ApiError } from './read-body.ts'

/** What the page can command. */
export interface Commands {
  startCall(tool: string, args: JsonObject): number
  stopCall(id: number): boolean
  answer(id: number, answer: ElicitAnswer): boolean
  arm(kind: FaultKind | undefined, options: { readonly at: 'request' | 'answer'; readonly delayMs: number }): void
  /** Speaks another revision, as a host of that revision does. */
  useRevision(revision: WantedRevision): void
  restart(): void
  kill(): void
}

/** Runs one command. Throws an {@link ApiError} for a command that does not exist, or whose body is wrong. */
export function runCommand(commands: Commands, path: string, body: JsonObject): JsonObject {
  switch (path) {
    case '/api/call':
      return { id: commands.startCall(textIn(body, 'tool'), objectIn(body, 'args')) }
    case '/api/stop':
      return confirm(commands.stopCall(numberIn(body, 'id')), 'The call does not run any more')
    case '/api/answer':
      return confirm(commands.answer(numberIn(body, 'id'), parseAnswer(body)), 'The question is not open any more')
    case '/api/fault':
      commands.arm(parseKind(body['kind']), {
        at: body['at'] === 'answer' ? 'answer' : 'request',
        delayMs: parseDelay(body['delayMs']),
      })
      return {}
    case '/api/revision':
      commands.useRevision(parseRevision(body['revision']))
      return {}
    case '/api/restart':
      commands.restart()
      return {}
    case '/api/kill':
      commands.kill()
      return {}
    default:
      throw new ApiError(404, `There is no command ${path}`)
  }
}

function confirm(isDone: boolean, problem: string): JsonObject {
  if (!isDone) throw new ApiError(409, problem)
  return {}
}

const maxDelayMs = 600_000
const defaultDelayMs = 5000

function parseDelay(value: JsonValue | undefined): number {
  if (value === undefined) return defaultDelayMs
  if (typeof value === 'number' && value >= 0 && value <= maxDelayMs) return value
  throw new ApiError(400, `delayMs must be a number from 0 to ${maxDelayMs}`)
}

function parseKind(value: JsonValue | undefined): FaultKind | undefined {
  if (value === undefined || value === null) return undefined
  const kind = faultKinds.find((known) => known === value)
  if (kind === undefined) throw new ApiError(400, `kind must be one of ${faultKinds.join(', ')}, or null`)
  return kind
}

const revisions = ['probe', ...protocolVersions] as const

function parseRevision(value: JsonValue | undefined): WantedRevision {
  const revision = revisions.find((known) => known === value)
  if (revision === undefined) throw new ApiError(400, `revision must be one of ${revisions.join(', ')}`)
  return revision
}

const actions = ['accept', 'decline', 'cancel'] as const

function parseAnswer(body: JsonObject): ElicitAnswer {
  const action = actions.find((known) => known === body['action'])
  if (action === undefined) throw new ApiError(400, `action must be one of ${actions.join(', ')}`)
  const content = Object.entries(isJsonObject(body['content']) ? body['content'] : {}).map(([name, value]) => {
    // An empty field stays empty, even if the schema has a default.
    if (value === null) return [name, undefined]
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [name, value]
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return [name, value]
    throw new ApiError(400, `The field ${name} must be a text, a number, a boolean or a list of texts`)
  })
  return { action, content: Object.fromEntries(content) }
}

function textIn(body: JsonObject, name: string): string {
  const value = body[name]
  if (typeof value !== 'string') throw new ApiError(400, `${name} must be a text`)
  return value
}

function numberIn(body: JsonObject, name: string): number {
  const value = body[name]
  if (typeof value !== 'number') throw new ApiError(400, `${name} must be a number`)
  return value
}

function objectIn(body: JsonObject, name: string): JsonObject {
  const value = body[name] ?? {}
  if (!isJsonObject(value)) throw new ApiError(400, `${name} must be an object`)
  return value
}
