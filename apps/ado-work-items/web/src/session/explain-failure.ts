import { type ClientErrorCode, isClientError } from '@x/client'
import { isHttpError } from '@x/transport-http/client'

const sentences: ReadonlyMap<ClientErrorCode, string> = new Map([
  [
    'timeout',
    'The server took too long to answer. It may have acted all the same: look at the work item before you call again.',
  ],
  ['too_many_rounds', 'The server asked again and again without coming to an end, so the page gave up.'],
  ['input_required', 'The server asks for something that this page cannot give: it fills in forms, and nothing else.'],
  [
    'unsupported_version',
    'The server speaks another revision of the protocol than this page. Reload the page, which comes from the server.',
  ],
])

/** Describes why a call failed and what to do, in one or two sentences for a user who did not write the server. */
export function explainFailure(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return 'The call was stopped.'
  if (!isClientError(error)) return `The page failed: ${error instanceof Error ? error.message : String(error)}`
  if (error.code === 'transport') return explainTransport(error.cause)
  if (error.rpc !== undefined && error.code === 'rpc') return `The server rejected the call: ${error.rpc.message}`
  return sentences.get(error.code) ?? `The call failed: ${error.message}`
}

function explainTransport(cause: unknown): string {
  if (!isHttpError(cause)) return 'The server did not answer.'
  switch (cause.code) {
    case 'status':
      return `The server answered with HTTP status ${cause.status}. Its own log says why.`
    case 'timeout':
      return 'The server took too long to answer.'
    case 'refused':
    case 'connect':
    case 'closed':
      return 'The server cannot be reached. Is it still running? Start it with "npm start", then try again.'
    default:
      return `The server's answer could not be understood: ${cause.message}`
  }
}
