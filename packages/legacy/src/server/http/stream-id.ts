import { encodeBase64url, randomId } from '@x/core'
import { streamIdLength } from '../call/round-store.ts'

const randomLength = 14
const encoder = new TextEncoder()

/**
 * Returns the id of a new stream of a session. It ends with a digest of the session key, which no client knows. So
 * every instance can check whether an id belongs to the session, without asking the store or another instance.
 */
export async function createStreamId(sessionKey: string): Promise<string> {
  const random = randomId().slice(0, randomLength)
  return random + (await digestOf(random, sessionKey))
}

/** Returns true if {@link createStreamId} made this id for this session. */
export async function isStreamOf(streamId: string, sessionKey: string): Promise<boolean> {
  const random = streamId.slice(0, randomLength)
  return streamId.length === streamIdLength && streamId === random + (await digestOf(random, sessionKey))
}

async function digestOf(random: string, sessionKey: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(`x/legacy stream ${random} ${sessionKey}`))
  return encodeBase64url(new Uint8Array(digest).subarray(0, 6))
}
