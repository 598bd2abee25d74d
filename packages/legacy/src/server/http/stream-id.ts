import { randomId } from '@x/core'
import { streamIdLength } from '../call/round-store.ts'

const randomLength = 14
const encoder = new TextEncoder()

/**
 * Returns the id of a new stream of a session. Its end is a digest of the session's key, which no client knows, so that
 * every instance finds out by itself whether an id was given to the session: no store and no other instance is asked
 * about one that was made up.
 */
export async function createStreamId(sessionKey: string): Promise<string> {
  const random = randomId().slice(0, randomLength)
  return random + (await digestOf(random, sessionKey))
}

/** Returns true for an id that {@link createStreamId} made for this session. */
export async function isStreamOf(streamId: string, sessionKey: string): Promise<boolean> {
  const random = streamId.slice(0, randomLength)
  return streamId.length === streamIdLength && streamId === random + (await digestOf(random, sessionKey))
}

async function digestOf(random: string, sessionKey: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(`x/legacy stream ${random} ${sessionKey}`))
  const text = btoa(String.fromCharCode(...new Uint8Array(digest).subarray(0, 6)))
  return text.replaceAll('+', '-').replaceAll('/', '_')
}
