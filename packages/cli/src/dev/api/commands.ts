import type { ElicitAnswer } from '@x/client'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/core'
import { protocolVersions } from '@x/schema'
import type { CallRequest } from '../calls/call-kinds.ts'
import { callKinds } from '../events.ts'
import { type Profile, profileOf } from '../calls/profiles.ts'
import { type FaultKind, faultKinds } from '../wire/fault.ts'
import { ApiError } from './read-body.ts'

/** What the page can command. A command that cannot be done throws. */
export interface Commands {
  startCall(request: CallRequest): number
  stopCall(id: number): boolean
  /** Calls for an App in a frame, and resolves with the result. */
  callForApp(request: CallRequest): Promise<JsonValue>
  answer(id: number, answer: ElicitAnswer): boolean
  arm(kind: FaultKind | undefined, options: { readonly at: 'request' | 'answer'; readonly delayMs: number }): void
  /** Acts as another client. */
  useProfile(profile: Profile): void
  restart(): void
  kill(): void
  /** Completes an argument of a prompt, or a variable of a URI template. */
  complete(completion: {
    readonly kind: 'prompt' | 'template'
    readonly target: string
    readonly name: string
    readonly value: string
    /** The other arguments. */
    readonly args: Readonly<Record<string, string>>
  }): Promise<readonly string[]>
  useTask(id: string, action: 'status' | 'cancel'): Promise<void>
  /** Opens a `requestState` with the keys of this run. */
  openState(token: string): Promise<JsonObject>
  examine(): void
}

type Run = (commands: Commands, body: JsonObject) => JsonObject | void | Promise<JsonObject | void>

const runs: ReadonlyMap<string, Run> = new Map<string, Run>([
  ['call', (commands, body) => ({ id: commands.startCall(parseCall(body)) })],
  ['app', async (commands, body) => ({ result: await commands.callForApp(parseCall(body)) })],
  ['stop', ({ stopCall }, body) => confirm(stopCall(requireId(body)), 'The call is no longer running')],
  [
    'answer',
    ({ answer }, body) => confirm(answer(requireId(body), parseElicitAnswer(body)), 'The question is no longer open'),
  ],
  [
    'fault',
    ({ arm }, body) => {
      const at = body['at'] === 'answer' ? 'answer' : 'request'
      arm(parseKind(body['kind']), { at, delayMs: parseDelay(body['delayMs']) })
    },
  ],
  ['client', ({ useProfile }, body) => useProfile(parseProfile(body))],
  ['restart', ({ restart }) => restart()],
  ['kill', ({ kill }) => kill()],
  ['complete', async ({ complete }, body) => ({ values: [...(await complete(parseCompletion(body)))] })],
  ['task', ({ useTask }, body) => useTask(requireText(body, 'id'), body['action'] === 'cancel' ? 'cancel' : 'status')],
  ['state', ({ openState }, body) => openState(requireText(body, 'token'))],
  ['doctor', ({ examine }) => examine()],
])

/** Throws an {@link ApiError} for a command that does not exist, or whose body is wrong. */
export async function runCommand(commands: Commands, path: string, body: JsonObject): Promise<JsonObject> {
  const run = runs.get(path.replace('/api/', ''))
  if (run === undefined) throw new ApiError(404, `There is no command ${path}`)
  return (await run(commands, body)) ?? {}
}

function parseCall(body: JsonObject): CallRequest {
  const kind = callKinds.find((known) => known === (body['kind'] ?? 'tool'))
  if (kind === undefined) throw new ApiError(400, `kind must be one of ${callKinds.join(', ')}`)
  return { kind, target: requireText(body, 'target'), args: parseArgs(body) }
}

function parseCompletion(body: JsonObject): Parameters<Commands['complete']>[0] {
  const args = Object.entries(parseArgs(body)).filter((entry): entry is [string, string] => {
    return typeof entry[1] === 'string'
  })
  return {
    kind: body['kind'] === 'prompt' ? 'prompt' : 'template',
    target: requireText(body, 'target'),
    name: requireText(body, 'name'),
    value: requireText(body, 'value'),
    args: Object.fromEntries(args),
  }
}

function confirm(isDone: boolean, problem: string): void {
  if (!isDone) throw new ApiError(409, problem)
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

function parseProfile({ host, revision: wanted }: JsonObject): Profile {
  const profile = typeof host === 'string' ? profileOf(host) : undefined
  if (profile !== undefined) return profile
  const revision = revisions.find((known) => known === wanted)
  if (revision === undefined)
    throw new ApiError(400, `revision must be one of ${revisions.join(', ')}, or host the name of a host`)
  return { host: undefined, revision }
}

const actions = ['accept', 'decline', 'cancel'] as const

function parseElicitAnswer(body: JsonObject): ElicitAnswer {
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

function requireText(body: JsonObject, name: string): string {
  const value = body[name]
  if (typeof value !== 'string') throw new ApiError(400, `${name} must be a text`)
  return value
}

function requireId({ id }: JsonObject): number {
  if (typeof id !== 'number') throw new ApiError(400, 'id must be a number')
  return id
}

function parseArgs({ args }: JsonObject): JsonObject {
  const given = args ?? {}
  if (!isJsonObject(given)) throw new ApiError(400, 'args must be an object')
  return given
}
