import { isClientError } from '@x/client'
import { isHttpError } from '@x/transport-http/client'

/** Says in a sentence or two why a call failed and what to do, for a person who did not write the server. */
export function explainFailure(error: unknown): string {
  if (error instanceof DOMException && error.name === 'AbortError') return 'The call was stopped.'
  if (!isClientError(error)) return `The page failed: ${error instanceof Error ? error.message : String(error)}`
  switch (error.code) {
    case 'transport':
      return explainTransport(error.cause)
    case 'timeout':
      return 'The server took too long to answer. It may have acted all the same: look at the work item before you call again.'
    case 'rpc':
      return `The server refused the call: ${error.rpc?.message ?? 'it gave no reason.'}`
    case 'too_many_rounds':
      return 'The server asked again and again without coming to an end, so the page gave up.'
    case 'input_required':
      return 'The server asks for something that this page cannot give: it fills in forms, and nothing else.'
    case 'unsupported_version':
      return 'The server speaks another revision of the protocol than this page. Reload the page; it comes from the server.'
    default:
      return `The call failed: ${error.message}`
  }
}

function explainTransport(cause: unknown): string {
  if (!isHttpError(cause)) return 'The server did not answer.'
  switch (cause.code) {
    case 'status':
      return `The server answered with HTTP status ${cause.status}. Its own log says why.`
    case 'timeout':
      return 'The server took too long to answer.'
    case 'connect':
    case 'closed':
      return 'The server cannot be reached. Is it still running? Start it with "npm start", then try again.'
    default:
      return `The server's answer could not be understood: ${cause.message}`
  }
}
