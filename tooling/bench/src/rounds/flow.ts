import { type Call, callOf } from '../http/call.ts'

/** What a client sends again with a call that asked: the answers, and the state as it came. */
export interface Retry {
  readonly inputResponses?: Readonly<Record<string, unknown>>
  readonly requestState?: string
}

/** As much of a result as a client that goes on with a call has to look at. */
export interface FlowResult {
  readonly resultType?: string
  readonly inputRequests?: Readonly<Record<string, unknown>>
  readonly requestState?: string
  readonly content?: readonly { readonly text?: string }[]
}

/** POSTs of a whole flow: the call, and one for each answer. */
export const postsOfFlow = 3

/** The text that ends a flow, made of what was asked. */
export const endOfFlow = '#4522 is Duplicate of #4301'

const answers: ReadonlyMap<string, unknown> = new Map(
  Object.entries({ resolution: { resolution: 'Duplicate' }, original: { id: 4301 } }),
)

const params = { name: 'resolve_bug', arguments: { id: 4522 } }

/** The header that says who asks; a proxy in front would write it. */
export const userHeader = 'x-user'

/** The first request of a flow, and what its answer has. */
export function firstCall(): Call {
  const call = callOf('tools/call', params, 'input_required')
  return { ...call, headers: { ...call.headers, [userHeader]: 'ada' } }
}

const [start, end] = firstCall().body.split('"_meta"')

/** The body of a request of a flow: the text of the first one, with what a retry adds, so that a load costs little. */
export function flowBody({ inputResponses, requestState }: Retry): string {
  const answered = inputResponses === undefined ? '' : `"inputResponses":${JSON.stringify(inputResponses)},`
  const state = requestState === undefined ? '' : `"requestState":${JSON.stringify(requestState)},`
  return `${start}${answered}${state}"_meta"${end}`
}

/**
 * What is sent next: an answer for every question, and the state.
 *
 * @throws Error for a question that is not of this flow.
 */
export function nextOf({ inputRequests = {}, requestState }: FlowResult): Retry {
  const given = Object.keys(inputRequests).map((key) => {
    const content = answers.get(key)
    if (content === undefined) throw new Error(`the server asks for ${key}, and the flow asks for nothing of that name`)
    return [key, { action: 'accept', content }] as const
  })
  const inputResponses = Object.fromEntries(given)
  return requestState === undefined ? { inputResponses } : { inputResponses, requestState }
}
