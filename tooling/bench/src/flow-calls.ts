import { type Call, callOf } from './calls.ts'

/** The additional params of a retry: the answers, and the unchanged state. */
export interface Retry {
  readonly inputResponses?: Readonly<Record<string, unknown>>
  readonly requestState?: string
}

/** The fields of a result that the load reads. */
export interface FlowResult {
  readonly resultType?: string
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly requestState?: string
  readonly content?: readonly { readonly text?: string }[]
}

/** The number of POSTs of a flow: the call, and one for each answer. */
export const postsOfFlow = 3

/** The text of the result of a flow, with both answers. */
export const endOfFlow = '#4522 is Duplicate of #4301'

const answers: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ resolution: { resolution: 'Duplicate' }, original: { id: 4301 } }),
)

/** Returns the answer to a question of an older revision, which has no key. */
export function answerTo(message: string): unknown {
  return answers.get(message.startsWith('How') ? 'resolution' : 'original')
}

/** The params of the call. */
export const callParams = { name: 'resolve_bug', arguments: { id: 4522 } }

/** The header with the user. In production a proxy would write it. */
export const userHeader = 'x-user'

/** The parameters that open a session. */
export const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: { elicitation: { form: {} } },
  clientInfo: { name: 'bench-client', version: '1.0.0' },
}

const call = callOf('tools/call', callParams, 'input_required')

/** The first request of a flow, with a text of its response. */
export const firstCall: Call = { ...call, headers: { ...call.headers, [userHeader]: 'ada' } }

const [start, end] = call.body.split('"_meta"')

/** Returns the body of a request of a flow. It adds the retry to a prepared text, so that the load uses little CPU. */
export function flowBody({ inputResponses, requestState }: Retry): string {
  const answered = inputResponses === undefined ? '' : `"inputResponses":${JSON.stringify(inputResponses)},`
  const state = requestState === undefined ? '' : `"requestState":${JSON.stringify(requestState)},`
  return `${start}${answered}${state}"_meta"${end}`
}

/**
 * Returns the next retry: an answer for every question, and the state.
 *
 * @throws Error for a question that this flow does not have.
 */
export function nextOf({ inputRequests = {}, requestState }: FlowResult): Retry {
  const given = Object.keys(inputRequests).map((key) => {
    const content = answers.get(key)
    if (content === undefined) throw new Error(`the server asks for ${key}, and the flow has no answer for it`)
    return [key, { action: 'accept', content }] as const
  })
  const inputResponses = Object.fromEntries(given)
  return requestState === undefined ? { inputResponses } : { inputResponses, requestState }
}
