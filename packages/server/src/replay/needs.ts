import { type ClientCapabilities, type CreateMessageRequestParams, type InputRequest, supports } from '@x/schema'

/** Sampling with tools, and with context, are capabilities of their own (client/sampling, capabilities). */
export function samplingNeeds({
  tools,
  toolChoice,
  includeContext = 'none',
}: Pick<CreateMessageRequestParams, 'tools' | 'toolChoice' | 'includeContext'>): NonNullable<
  ClientCapabilities['sampling']
> {
  return {
    ...((tools !== undefined || toolChoice !== undefined) && { tools: {} }),
    ...(includeContext !== 'none' && { context: {} }),
  }
}

/** Returns the client capabilities that answering a request needs. */
function capabilitiesFor(request: InputRequest): ClientCapabilities {
  if (request.method === 'roots/list') return { roots: {} }
  if (request.method === 'sampling/createMessage') return { sampling: samplingNeeds(request.params) }
  return { elicitation: request.params.mode === 'url' ? { url: {} } : { form: {} } }
}

/** Returns whether an answer is of the kind that a request asks for; it was checked to be one of the three. */
export function answersKind(kind: string, response: object): boolean {
  if (kind === 'roots/list') return 'roots' in response
  return kind === 'sampling/createMessage' ? 'role' in response : 'action' in response
}

/** The request that an answer is of the kind of. */
export function answeredMethod(response: object): InputRequest['method'] {
  if ('roots' in response) return 'roots/list'
  return 'role' in response ? 'sampling/createMessage' : 'elicitation/create'
}

/** Returns the missing capabilities of several requests together. */
export function missingCapabilities(
  requests: readonly InputRequest[],
  capabilities: ClientCapabilities,
): ClientCapabilities | undefined {
  const missing = requests.flatMap((request) => supports(capabilities, capabilitiesFor(request)) ?? [])
  if (missing.length === 0) return undefined
  const { elicitation, sampling, roots } = mergeCapabilities(missing)
  return { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) }
}

/** One request may lack the form and another the page: both are named. */
function mergeCapabilities(
  several: readonly ClientCapabilities[],
): Pick<ClientCapabilities, 'elicitation' | 'sampling' | 'roots'> {
  let all: ClientCapabilities = {}
  for (const one of several) {
    all = {
      elicitation: one.elicitation ? { ...all.elicitation, ...one.elicitation } : all.elicitation,
      sampling: one.sampling ? { ...all.sampling, ...one.sampling } : all.sampling,
      roots: one.roots ?? all.roots,
    }
  }
  return all
}
