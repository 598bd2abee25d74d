import type { HttpAuthorizer, HttpHeaders, HttpTarget } from './options.ts'
import type { IncomingResponse } from './sender.ts'

const maxSends = 4
const maxHeldBytes = 65_536

/** Sends one request, with these headers beside its own. */
export type SendWithHeaders = (headers: HttpHeaders) => Promise<IncomingResponse>

/** Sends a request until its authorizer is content with the response, or has had it sent four times. */
export async function sendAuthorized(
  auth: HttpAuthorizer,
  target: HttpTarget,
  send: SendWithHeaders,
): Promise<IncomingResponse> {
  for (let sendCount = 1; ; sendCount += 1) {
    const incoming = await bufferErrorBody(await send(await auth.headers(target)))
    const decision = await decideRetry(auth, incoming, target)
    if (decision !== 'retry' || sendCount === maxSends) return incoming
    incoming.stop()
  }
}

async function decideRetry(
  auth: HttpAuthorizer,
  incoming: IncomingResponse,
  target: HttpTarget,
): Promise<'retry' | undefined> {
  try {
    return await auth.onResponse(incoming, target)
  } catch (error) {
    incoming.stop()
    throw error
  }
}

/**
 * Reads the short body of a response that may lead to an authorization, which lasts as long as a person needs: the
 * connection is free meanwhile, and what a server goes on sending is not kept.
 */
async function bufferErrorBody(incoming: IncomingResponse): Promise<IncomingResponse> {
  const { status } = incoming
  if (status !== 401 && status !== 403) return incoming
  const chunks: Uint8Array[] = []
  let length = 0
  const isStream = incoming.header('content-type')?.trim().toLowerCase().startsWith('text/event-stream') ?? false
  if (isStream) incoming.stop()
  else {
    const take = (chunk: Uint8Array): void => {
      length += chunk.byteLength
      if (length > maxHeldBytes) throw new RangeError('The body is longer than an error needs')
      chunks.push(chunk)
    }
    // The status says what is needed; a body that breaks off or is too long only lacks its end.
    await incoming.read(take).catch(() => incoming.stop())
  }
  return {
    status,
    header: (name) => incoming.header(name),
    read: async (take) => {
      for (const chunk of chunks) take(chunk)
    },
    stop: () => {},
  }
}
