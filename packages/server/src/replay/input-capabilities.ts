import type { ClientCapabilities, CreateMessageRequestParams, InputRequest } from '@x/schema'

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
