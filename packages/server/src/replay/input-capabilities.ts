import {
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type InputRequest,
  findMissingCapabilities,
} from '@x/schema'

/**
 * Returns the sampling capabilities that a request needs. Clients declare support for tools and for context separately
 * (client/sampling, capabilities).
 */
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

/**
 * Returns true if an answer fits a request of the given method. The params check has already accepted the answer as
 * valid.
 */
export function isResponseOfKind(method: string, response: object): boolean {
  if (method === 'roots/list') return 'roots' in response
  return method === 'sampling/createMessage' ? 'role' in response : 'action' in response
}

/** Returns the method of the request that an answer fits. */
export function inferRequestMethod(response: object): InputRequest['method'] {
  if ('roots' in response) return 'roots/list'
  return 'role' in response ? 'sampling/createMessage' : 'elicitation/create'
}

/**
 * Returns the capabilities that several requests need and the client has not declared. Returns undefined if none is
 * missing.
 */
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

/**
 * Merges capability sets. If one set has `elicitation.form` and another one has `elicitation.url`, the result has both.
 */
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
