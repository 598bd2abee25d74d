import type { HttpAuthorizer, HttpHeaders, HttpTarget } from './options.ts'
import type { IncomingResponse } from './sender.ts'

const maxSends = 4
const maxBufferedBodyBytes = 65_536

/** Sends a request again as long as its authorizer returns `'retry'`, four times at most. */
export async function sendAuthorizedRequest(
  auth: HttpAuthorizer,
  target: HttpTarget,
  send: (headers: HttpHeaders) => Promise<IncomingResponse>,
): Promise<IncomingResponse> {
  for (let sendCount = 1; ; sendCount += 1) {
    const incomingResponse = await bufferErrorBody(await send(await auth.headers(target)))
    const decision = await decideRetry(auth, incomingResponse, target)
    if (decision !== 'retry' || sendCount === maxSends) return incomingResponse
    incomingResponse.stop()
  }
}

async function decideRetry(
  auth: HttpAuthorizer,
  incomingResponse: IncomingResponse,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  try {
    return await auth.onResponse(incomingResponse, target)
  } catch (error) {
    incomingResponse.stop()
    throw error
  }
}

/**
 * Takes the body of a 401 or 403 off the connection, which is then free while a user logs in. A body that is too long
 * is cut.
 */
async function bufferErrorBody(incomingResponse: IncomingResponse): Promise<IncomingResponse> {
  const { status } = incomingResponse
  if (status !== 401 && status !== 403) return incomingResponse
  const chunks: Uint8Array[] = []
  let byteCount = 0
  const isStream =
    incomingResponse.header('content-type')?.trim().toLowerCase().startsWith('text/event-stream') ?? false
  if (isStream) incomingResponse.stop()
  else {
    const bufferChunk = (chunk: Uint8Array): void => {
      byteCount += chunk.byteLength
      if (byteCount > maxBufferedBodyBytes) throw new RangeError('The body is too long for an error')
      chunks.push(chunk)
    }
    // An authorizer needs only status and headers, so a body that breaks off or is too long is cut.
    await incomingResponse.read(bufferChunk).catch(() => incomingResponse.stop())
  }
  return {
    status,
    header: (name) => incomingResponse.header(name),
    read: async (onChunk) => {
      for (const chunk of chunks) onChunk(chunk)
    },
    stop: () => {},
  }
}
