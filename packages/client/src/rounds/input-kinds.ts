import { quoteText } from '@x/core'
import { type ClientCapabilities, type InputRequest, findMissingCapabilities } from '@x/schema'
import { type InputRequired, describeUnsafeUrl } from '../request/input-required.ts'
import { type CallErrorContext, ClientError } from '../request/client-error.ts'
import type { Awaitable, InputContext, InputHandlers } from '../request/input-handlers.ts'

interface InputKind {
  readonly handlerName: keyof InputHandlers
  readonly requiredCapabilities: ClientCapabilities
  readonly capabilityName: string
}

const formKind: InputKind = {
  handlerName: 'elicit',
  requiredCapabilities: { elicitation: { form: {} } },
  capabilityName: 'elicitation.form',
}
const urlKind: InputKind = {
  handlerName: 'openUrl',
  requiredCapabilities: { elicitation: { url: {} } },
  capabilityName: 'elicitation.url',
}
const samplingKind: InputKind = {
  handlerName: 'sample',
  requiredCapabilities: { sampling: {} },
  capabilityName: 'sampling',
}
const samplingWithToolsKind: InputKind = {
  handlerName: 'sample',
  requiredCapabilities: { sampling: { tools: {} } },
  capabilityName: 'sampling.tools',
}
const rootsKind: InputKind = { handlerName: 'roots', requiredCapabilities: { roots: {} }, capabilityName: 'roots' }

function inputKindOf(request: InputRequest): InputKind {
  if (request.method === 'roots/list') return rootsKind
  if (request.method === 'elicitation/create') return request.params.mode === 'url' ? urlKind : formKind
  const { tools, toolChoice } = request.params
  return tools !== undefined || toolChoice !== undefined ? samplingWithToolsKind : samplingKind
}

/**
 * Checks a round's requests before any handler runs. Throws for a kind that was not declared (basic/patterns/mrtr), and
 * for a URL that must not be shown (client/elicitation, safe URL handling).
 */
export function checkInputRequests(
  { requests }: InputRequired,
  callCapabilities: ClientCapabilities,
  errorContext: CallErrorContext,
): void {
  for (const [key, request] of requests) {
    const { requiredCapabilities, capabilityName } = inputKindOf(request)
    if (findMissingCapabilities(callCapabilities, requiredCapabilities) !== undefined) {
      const reason = `the server asks ${quoteText(key)}, which needs ${capabilityName}: this client has not declared it`
      throw new ClientError('input_required', reason, errorContext)
    }
    const unsafeUrlIssue = findUrlIssue(request)
    if (unsafeUrlIssue === undefined) continue
    throw new ClientError(
      'invalid_result',
      `the URL of ${quoteText(key)} must not be shown: ${unsafeUrlIssue}`,
      errorContext,
    )
  }
}

function findUrlIssue(request: InputRequest): string | undefined {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return undefined
  return describeUnsafeUrl(request.params.url)
}

/** Asks the handler of one request. */
export type Answerer = (context: InputContext) => Awaitable<unknown>

/**
 * Finds a request's handler. Throws {@link ClientError} `input_required` if the capability was declared without one.
 */
export function requireAnswerer(
  [key, request]: readonly [string, InputRequest],
  handlers: InputHandlers,
  errorContext: CallErrorContext,
): Answerer {
  const answerer = findAnswerer(request, handlers)
  if (answerer) return answerer
  const { handlerName, capabilityName } = inputKindOf(request)
  const reason =
    `the server asks ${quoteText(key)}, and there is no handler \`${handlerName}\`: ` +
    `${capabilityName} is only declared in \`capabilities\`, for calls that another process or client.manualRounds answers`
  throw new ClientError('input_required', reason, errorContext)
}

function findAnswerer(request: InputRequest, { elicit, openUrl, sample, roots }: InputHandlers): Answerer | undefined {
  if (request.method === 'roots/list') return roots && (async (context) => ({ roots: await roots(context) }))
  if (request.method === 'sampling/createMessage') return sample && ((context) => sample(request.params, context))
  const { params } = request
  if (params.mode === 'url') return openUrl && ((context) => openUrl(params, context))
  return elicit && ((context) => elicit(params, context))
}
