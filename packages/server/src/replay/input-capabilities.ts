import type { ClientCapabilities, CreateMessageRequestParams, InputRequest } from '@x/schema'

/**
 * The capabilities that a sampling request needs. Clients declare support for tools and for context separately
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

/** True if an answer fits a request of this method. The params check has already accepted it as valid. */
export function isResponseOfKind(method: string, response: object): boolean {
  if (method === 'roots/list') return 'roots' in response
  return method === 'sampling/createMessage' ? 'role' in response : 'action' in response
}

/** The method of the request that an answer fits. */
export function inferRequestMethod(response: object): InputRequest['method'] {
  if ('roots' in response) return 'roots/list'
  return 'role' in response ? 'sampling/createMessage' : 'elicitation/create'
}
