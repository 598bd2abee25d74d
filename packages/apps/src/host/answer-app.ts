import {
  checkResult,
  type ContentBlock,
  errorCodes,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  McpError,
} from '@x/schema'
import type { ServerOfApp } from './server-of-app.ts'
import type { ShowAppOptions } from './show-app-options.ts'

const appProtocolVersion = '2026-01-26'

type Answer = (params: JsonObject, signal: AbortSignal) => JsonObject | Promise<JsonObject>

export async function answerApp(
  { method, params, signal }: { readonly method: string; readonly params: JsonObject; readonly signal: AbortSignal },
  options: ShowAppOptions,
  server: ServerOfApp,
): Promise<JsonObject> {
  const answer = createAnswers(options, server).get(method)
  if (answer !== undefined) return await answer(params, signal)
  throw new McpError(errorCodes.methodNotFound, `This host does not serve ${method.slice(0, 100)}`)
}

function createAnswers(options: ShowAppOptions, server: ServerOfApp): ReadonlyMap<string, Answer> {
  const { openLink, sendMessage, updateModelContext } = options
  const answers: [string, Answer | undefined][] = [
    ['ui/initialize', () => initialize(options)],
    ['ping', () => ({})],
    ['tools/call', async (params, signal) => ({ ...(await server.callTool(params, signal)) })],
    ['resources/read', async (params, signal) => ({ ...(await server.readResource(params, signal)) })],
    ['ui/request-display-mode', () => ({ mode: 'inline' })],
    ['ui/open-link', openLink && (async (params) => outcome(await openLink(readLink(params))))],
    ['ui/message', sendMessage && (async ({ content }) => outcome(await sendMessage(readContent(content))))],
    ['ui/update-model-context', updateModelContext && ((params) => takeContext(updateModelContext, params))],
  ]
  return new Map(answers.flatMap(([method, answer]) => (answer === undefined ? [] : [[method, answer]])))
}

async function takeContext(
  updateModelContext: NonNullable<ShowAppOptions['updateModelContext']>,
  { content = [], structuredContent }: JsonObject,
): Promise<JsonObject> {
  await updateModelContext({
    content: readContent(content),
    structuredContent: isJsonObject(structuredContent) ? structuredContent : undefined,
  })
  return {}
}

function initialize({ host, tool, context, openLink, sendMessage, updateModelContext }: ShowAppOptions): JsonObject {
  const modalities = { text: {}, image: {}, audio: {}, resource: {}, resourceLink: {} }
  return {
    protocolVersion: appProtocolVersion,
    hostInfo: { name: host.name, version: host.version },
    hostCapabilities: {
      serverTools: {},
      serverResources: {},
      ...(openLink && { openLinks: {} }),
      ...(sendMessage && { message: modalities }),
      ...(updateModelContext && { updateModelContext: { ...modalities, structuredContent: {} } }),
    },
    hostContext: {
      displayMode: 'inline',
      availableDisplayModes: ['inline'],
      toolInfo: { tool: { ...tool } },
      ...context,
    },
  }
}

function outcome(isDone: boolean): JsonObject {
  return isDone ? {} : { isError: true }
}

function readLink({ url }: JsonObject): URL {
  const link = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  if (link?.protocol === 'https:') return link
  throw new McpError(errorCodes.invalidParams, 'url must be an address with https:')
}

function readContent(content: JsonValue | undefined): readonly ContentBlock[] {
  const result = { resultType: 'complete', content: Array.isArray(content) ? content : [content] }
  const failure = checkResult('tools/call', result)
  if (failure !== undefined) throw new McpError(errorCodes.invalidParams, `content: expected ${failure.expected}`)
  // The cast is safe: the check of a tool's result has checked each block.
  return result.content as readonly ContentBlock[]
}
