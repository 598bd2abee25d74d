import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@x/core'
import type { CallView, MessageView } from '../../../src/dev/events.ts'

/**
 * Returns a test for `node --test` that repeats a call with the answers that were given. Undefined for a call that is no
 * tool call or has not ended, and for one whose questions have no keys, as in older revisions. `module` is the import of
 * the module that exports the server. Undefined if it is not known.
 */
export function toTest({
  call,
  messages,
  module,
}: {
  readonly call: CallView
  /** The messages of the call, in their order. */
  readonly messages: readonly MessageView[]
  readonly module: string | undefined
}): string | undefined {
  const { target, args, status, result, error = '' } = call
  // A broken connection has no code, and is nothing that a test in memory repeats.
  const isLost = status === 'failed' && !/ \(-?\d+\)$/.test(error)
  const answers = answersIn(messages)
  if (call.method !== 'tools/call' || status === 'running' || status === 'stopped' || isLost || answers === undefined)
    return undefined
  const request = `client.callTool(${print(target)}, ${print(args)})`
  const expectation =
    status === 'failed'
      ? `await assert.rejects(${request}, { message: ${print(error.replace(/ \(-?\d+\)$/, ''))} })`
      : printExpectations(request, result)
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from '@x/testing'
${printImport(module)}

test(${print(target)}, async (t) => {
  const client = testClient(server${printOptions(answers, messages)})
  t.after(() => client[Symbol.asyncDispose]())
  ${expectation}
})
`
}

function printImport(module: string | undefined): string {
  const place = module === undefined ? ' // the module that exports your server' : ''
  return `import { server } from ${print(module ?? './server.js')}${place}`
}

/** The page does not know who the user of a token is. */
function printOptions(answers: JsonObject, messages: readonly MessageView[]): string {
  const isAuthorized = messages.some(({ http }) => http?.headers['authorization'] !== undefined)
  const options = [
    ...(isAuthorized ? ["principal: { subject: 'the user of the token' }"] : []),
    ...(Object.keys(answers).length > 0 ? [`answers: ${print(answers)}`] : []),
  ]
  return options.length === 0 ? '' : `, { ${options.join(', ')} }`
}

/** The members of a result that the author wrote. */
function printExpectations(request: string, result: JsonValue | undefined): string {
  const { content = [], structuredContent, isError = false } = isJsonObject(result) ? result : {}
  const members =
    structuredContent === undefined ? { content, ...(isError === true && { isError }) } : { structuredContent }
  const names = Object.keys(members).join(', ')
  return `const { ${names} } = await ${request}
  assert.deepEqual({ ${names} }, ${print(members)})`
}

/** The answers by the keys of the server. Declining and cancelling are words, and a form is its content. */
function answersIn(messages: readonly MessageView[]): JsonObject | undefined {
  let answers: JsonObject = {}
  for (const { direction, text } of messages) {
    const message = parseJson(text)
    const params = isJsonObject(message) ? message['params'] : undefined
    const isOlder = direction === 'sent' && isJsonObject(params) && !hasRevision(params)
    if (isOlder) return undefined
    const responses = isJsonObject(params) ? params['inputResponses'] : undefined
    if (direction === 'sent' && isJsonObject(responses))
      answers = {
        ...answers,
        ...Object.fromEntries(Object.entries(responses).map(([key, one]) => [key, answerOf(one)])),
      }
  }
  return answers
}

/** A request of the current revision names it. In older ones questions have no keys. */
function hasRevision({ _meta }: JsonObject): boolean {
  return isJsonObject(_meta) && _meta['io.modelcontextprotocol/protocolVersion'] !== undefined
}

function answerOf(response: JsonValue = null): JsonValue {
  if (!isJsonObject(response)) return response
  const { action, content } = response
  if (action === undefined) return response
  return action === 'accept' && content !== undefined ? content : action
}

function print(value: JsonValue): string {
  return JSON.stringify(value, undefined, 2).replaceAll('\n', '\n  ')
}
