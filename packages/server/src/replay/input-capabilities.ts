import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type InputRequest,
  findMissingCapabilities,
} from '@x/schema'

/** Sampling with tools, and with context, are capabilities of their own (client/sampling, capabilities). */
export function samplingCapabilitiesFor({
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
  if (request.method === 'sampling/createMessage') return { sampling: samplingCapabilitiesFor(request.params) }
  return { elicitation: request.params.mode === 'url' ? { url: {} } : { form: {} } }
}

/** Returns whether an answer is of the kind that a request asks for. It was checked to be one of the three. */
export function isResponseOfKind(method: string, response: object): boolean {
  if (method === 'roots/list') return 'roots' in response
  return method === 'sampling/createMessage' ? 'role' in response : 'action' in response
}

/** The request that an answer is of the kind of. */
export function inferRequestMethod(response: object): InputRequest['method'] {
  if ('roots' in response) return 'roots/list'
  return 'role' in response ? 'sampling/createMessage' : 'elicitation/create'
}

/** Returns the missing capabilities of several requests together. */
export function mergeMissingCapabilities(
  requests: readonly InputRequest[],
  capabilities: ClientCapabilities,
): ClientCapabilities | undefined {
  const undeclaredCapabilities = requests.flatMap(
    (request) => findMissingCapabilities(capabilities, capabilitiesFor(request)) ?? [],
  )
  if (undeclaredCapabilities.length === 0) return undefined
  const { elicitation, sampling, roots } = mergeCapabilities(undeclaredCapabilities)
  return { ...(elicitation && { elicitation }), ...(sampling && { sampling }), ...(roots && { roots }) }
}

/** One request may lack the form and another the page: both are named. */
function mergeCapabilities(
  capabilityList: readonly ClientCapabilities[],
): Pick<ClientCapabilities, 'elicitation' | 'sampling' | 'roots'> {
  let mergedCapabilities: ClientCapabilities = {}
  for (const capabilitySet of capabilityList) {
    mergedCapabilities = {
      elicitation: capabilitySet.elicitation
        ? { ...mergedCapabilities.elicitation, ...capabilitySet.elicitation }
        : mergedCapabilities.elicitation,
      sampling: capabilitySet.sampling
        ? { ...mergedCapabilities.sampling, ...capabilitySet.sampling }
        : mergedCapabilities.sampling,
      roots: capabilitySet.roots ?? mergedCapabilities.roots,
    }
  }
  return mergedCapabilities
}
