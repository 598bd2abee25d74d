import { isJsonObject, type JsonObject } from '@x/core'
import type { HttpAuthorizer } from '@x/exchange'
import { type Context, type FullToolResult, ToolError, toolResult } from '@x/server'
import { cleanText } from '../document/clean-text.ts'
import { isReading } from '../document/open-document.ts'
import type { OperationPlan } from '../plan/plan-operation.ts'
import { checkSchema } from './check-schema.ts'
import { type ApiResult, readResponse } from './read-response.ts'
import { type Api, callApi } from './send-request.ts'
import { type ApiRequest, writeRequest } from './write-request.ts'

export interface OperationCall {
  readonly api: Api
  readonly args: unknown
  readonly ctx: Context
}

/** Writes the request, finds the caller's credential, asks the user if need be, and sends. */
export async function callOperation(plan: OperationPlan, call: OperationCall): Promise<FullToolResult> {
  const { api, ctx } = call
  const { settings } = api
  const { operation } = plan
  const args = isJsonObject(call.args) ? call.args : {}
  const request = writeRequest(plan, args)
  const auth = await findCredential(call)
  if (settings.confirm(operation)) await confirmRequest(call, request, operation.summary)
  const change = settings.transform
  const transform = change && ((value: Parameters<typeof change>[0]) => change(value, operation) ?? value)
  const send = async (signal: AbortSignal, idempotencyKey?: string): Promise<ApiResult> => {
    const response = await callApi(api, request, { operation, auth, signal, idempotencyKey })
    return readResponse(response, { plan, args, maxBytes: settings.maxResponseBytes, transform, log: api.log })
  }
  // A handler that runs again, after a form or at another instance, must not send a second time.
  const result = isReading(operation)
    ? await send(ctx.signal)
    : await ctx.step('request', ({ signal, idempotencyKey }) => send(signal, idempotencyKey))
  if (plan.output !== undefined) await checkOutput(plan.output, result)
  return toolResult(result)
}

async function findCredential({ api, ctx }: OperationCall): Promise<HttpAuthorizer | undefined> {
  const { credential } = api.settings
  if (typeof credential !== 'function') return credential
  const found = await credential(ctx.principal)
  if (!('loginUrl' in found)) return found
  const message = `Log in to ${new URL(api.url).host} first`
  if (!ctx.can('elicitation.url')) throw new ToolError(`${message}: ${found.loginUrl}`)
  // A later run gets here only if the user has not logged in yet.
  await ctx.elicitUrl('login', { message, url: found.loginUrl, isDone: () => false })
  return undefined
}

// limit: questions before requests | characters | the body in the question to the user | cut
const maxShownBody = 300

const confirmation = {
  type: 'object',
  properties: { confirm: { type: 'boolean', title: 'Send this request' } },
  required: ['confirm'],
}

async function confirmRequest({ api, ctx }: OperationCall, request: ApiRequest, summary: string): Promise<void> {
  if (!ctx.can('elicitation.form')) {
    if (api.settings.withoutForms === 'call') return
    throw new ToolError('The user must confirm this request, and this host cannot ask. Nothing was sent')
  }
  const body = typeof request.body === 'object' ? 'with a form' : cleanText(request.body, maxShownBody)
  const lines = [summary, `${request.method} ${request.target}`, body]
  const message = lines.filter((line) => line !== '').join('\n')
  const { content } = await ctx.elicitResult('confirm', { message, schema: confirmation })
  if (content?.['confirm'] !== true) throw new ToolError('The user did not confirm this request. Nothing was sent')
}

/** A response that breaks its schema has had its effect, so the model has to know. */
async function checkOutput(schema: JsonObject, { structuredContent }: ApiResult): Promise<void> {
  const issues =
    structuredContent === undefined
      ? [{ path: '', message: 'It is not JSON.' }]
      : await checkSchema(schema, structuredContent)
  if (issues.length === 0) return
  const places = issues.map(({ path, message }) => `${path || 'the root'}: ${message}`).join('\n')
  throw new ToolError(`The request was made, and its response does not match the schema of the document:\n${places}`)
}
