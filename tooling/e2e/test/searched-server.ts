import { apps } from '@x/apps/server'
import { requireScopes } from '@x/auth/server'
import { type Call, callHeadersKey, type Exchange, headerParamsKey, type Middleware } from '@x/exchange'
import { isJsonObject, type JsonObject, metaKeys } from '@x/schema'
import { createServer, type McpServer, sealedState, type ServerDefinition } from '@x/server'
import { callLog } from '@x/server/log'
import { toolSearch } from '@x/server/tool-search'
import { memoryStore } from '@x/state-codec'
import { tasks } from '@x/tasks/server'
import { expect } from 'vitest'
import { send } from './raw-request.ts'
import { info, keys, tools } from './searched-tools.ts'

const uiExtension = 'io.modelcontextprotocol/ui'
const tasksExtension = 'io.modelcontextprotocol/tasks'
const capabilities = {
  elicitation: { form: {}, url: {} },
  extensions: { [tasksExtension]: {}, [uiExtension]: { mimeTypes: ['text/html;profile=mcp-app'] } },
}

/** What happens, with a text that must be seen, so that no row compares two failures of another kind. */
export type Rule = readonly [title: string, expected: string, run: (way: Way, seen: Seen) => Promise<unknown>]

/** A way to call a tool, and what was seen and recorded when it was called so. */
export type Way = (name: string, args?: JsonObject) => JsonObject
export const direct: Way = (name, args) => ({ name, ...(args && { arguments: args }) })
export const through: Way = (name, args) => ({ name: 'call_tool', arguments: direct(name, args) })

export class Seen {
  readonly entries: unknown[] = []
  readonly note = (entry: unknown): void => void this.entries.push(entry)
  readonly use: Middleware = (next) => async (request, call) => {
    const { method, params: { _meta, ...params } = {} } = request
    const headers: string[] = []
    call.context.get(headerParamsKey)?.forEach((value, name) => headers.push(`${name.toLowerCase()}: ${value}`))
    this.note({ method, params, headers, name: call.context.get(callHeadersKey)?.get('Mcp-Name') })
    return next(request, call)
  }

  /** Members that differ between any two calls are left out. */
  toJson(): unknown {
    const changing = new Set('requestState taskId durationMs createdAt lastUpdatedAt ttlMs requestId ms'.split(' '))
    const text = JSON.stringify(this.entries, (key, value) => (changing.has(key) ? undefined : value))
    return JSON.parse(text.replace(/took \d+ ms/g, 'was slow'))
  }
}

export function serve(seen: Seen, more: Partial<ServerDefinition> = {}): McpServer {
  return createServer({
    ...info,
    tools,
    use: [seen.use],
    extensions: [
      requireScopes({ 'tools/call': { guarded: ['admin'] } }),
      tasks({ store: 'memory:' }),
      apps(),
      callLog({ log: seen.note, slowMs: 0 }),
    ],
    log: seen.note,
    state: sealedState({ keys }),
    idempotency: { store: memoryStore() },
    toolSearch: toolSearch({ above: 0, directFor: [] }),
    ...more,
  })
}

export type Params = Readonly<Record<string, unknown>>

/** Sends a call of a tool, and notes the response and the notifications before it. */
export async function callTool(
  exchange: Exchange,
  params: Params,
  { seen, meta = {}, ...call }: { seen: Seen; meta?: JsonObject; principal?: Call['principal'] },
): Promise<JsonObject> {
  const raw = {
    method: 'tools/call',
    params: params as JsonObject,
    meta: { [metaKeys.clientCapabilities]: capabilities, ...meta },
  }
  const { response, notifications } = await send(exchange, raw, call)
  seen.note({ response, notifications })
  return 'result' in response ? response.result : {}
}

/** Answers the question of a result. */
export const answer = ({ requestState, inputRequests }: JsonObject, content?: JsonObject): Params => ({
  requestState,
  inputResponses: Object.fromEntries(
    Object.keys(isJsonObject(inputRequests) ? inputRequests : {}).map((key) => [key, { action: 'accept', content }]),
  ),
})

export const ada = { issuer: 'https://id.test', subject: 'ada', scopes: ['user'] }

/** Runs a rule in both ways, and compares all that was seen and recorded. */
export async function compareWays([, expected, run]: Rule): Promise<void> {
  const [one, other] = [new Seen(), new Seen()]
  await run(direct, one)
  await run(through, other)
  expect(other.toJson()).toEqual(one.toJson())
  expect(JSON.stringify(other.entries)).toContain(expected)
}
