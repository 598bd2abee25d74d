import type { ClientCapabilities, InputRequest } from '@x/schema'
import { supports } from '@x/schema'
import type { Asked } from './asked.ts'
import { type CallPlace, ClientError } from '../client-error.ts'
import type { Awaitable, InputContext, InputHandlers } from './input-handlers.ts'
import { unsafeUrl } from './unsafe-url.ts'
import { shownKey } from '../word-failure.ts'

/** What stands behind a request: the handler that answers it, and the capability that lets a server ask. */
interface InputKind {
  readonly handler: keyof InputHandlers
  readonly needs: ClientCapabilities
  /** The capability as people write it. */
  readonly capability: string
}

const form: InputKind = { handler: 'elicit', needs: { elicitation: { form: {} } }, capability: 'elicitation.form' }
const url: InputKind = { handler: 'openUrl', needs: { elicitation: { url: {} } }, capability: 'elicitation.url' }
const model: InputKind = { handler: 'sample', needs: { sampling: {} }, capability: 'sampling' }
const modelWithTools: InputKind = {
  handler: 'sample',
  needs: { sampling: { tools: {} } },
  capability: 'sampling.tools',
}
const places: InputKind = { handler: 'roots', needs: { roots: {} }, capability: 'roots' }

function kindOf(request: InputRequest): InputKind {
  if (request.method === 'roots/list') return places
  if (request.method === 'elicitation/create') return request.params.mode === 'url' ? url : form
  const { tools, toolChoice } = request.params
  return tools !== undefined || toolChoice !== undefined ? modelWithTools : model
}

/**
 * Refuses a round that this client must not answer, before anybody is asked anything: a kind that was not declared
 * (basic/patterns/mrtr), or a URL that must not be shown (client/elicitation, safe URL handling).
 */
export function admitRequests({ requests }: Asked, declared: ClientCapabilities, place: CallPlace): void {
  for (const [key, request] of requests) {
    const { needs, capability } = kindOf(request)
    if (supports(declared, needs) !== undefined) {
      const why = `the server asks ${shownKey(key)}, which needs ${capability}: this client has not declared it`
      throw new ClientError('input_required', why, place)
    }
    const unsafe = urlIssue(request)
    if (unsafe === undefined) continue
    throw new ClientError('invalid_result', `the URL of ${shownKey(key)} must not be shown: ${unsafe}`, place)
  }
}

function urlIssue(request: InputRequest): string | undefined {
  if (request.method !== 'elicitation/create' || request.params.mode !== 'url') return undefined
  return unsafeUrl(request.params.url)
}

/** Asks whoever answers this kind; throws {@link ClientError} `input_required` when there is nobody. */
export type Answerer = (context: InputContext) => Awaitable<unknown>

/** Who answers a request; throws {@link ClientError} `input_required` when the capability was declared by hand alone. */
export function answererOf(
  [key, request]: readonly [string, InputRequest],
  handlers: InputHandlers,
  place: CallPlace,
): Answerer {
  const found = handlerOf(request, handlers)
  if (found) return found
  const { handler, capability } = kindOf(request)
  const why =
    `the server asks ${shownKey(key)}, and there is no handler \`${handler}\`: ` +
    `${capability} is declared in \`capabilities\` alone, which is for calls through client.manual`
  throw new ClientError('input_required', why, place)
}

function handlerOf(request: InputRequest, { elicit, openUrl, sample, roots }: InputHandlers): Answerer | undefined {
  if (request.method === 'roots/list') return roots && (async (context) => ({ roots: await roots(context) }))
  if (request.method === 'sampling/createMessage') return sample && ((context) => sample(request.params, context))
  const { params } = request
  if (params.mode === 'url') return openUrl && ((context) => openUrl(params, context))
  return elicit && ((context) => elicit(params, context))
}
