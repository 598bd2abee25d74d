import { randomId, sha256Hex } from '@x/core'
import { streamIdLength } from '../call/round-store.ts'

const tagLength = 8

/**
 * Names a new stream of a session. The id ends with a digest of the session key, which no client knows, so every
 * instance can check whose stream it is without asking the store or another instance.
 */
export function createStreamId(sessionKey: string): string | Promise<string> {
  const random = randomId().slice(0, streamIdLength - tagLength)
  const tag = tagOf(random, sessionKey)
  return typeof tag === 'string' ? random + tag : tag.then((text) => random + text)
}

/** True if {@link createStreamId} made this id for this session. */
export async function isStreamOf(streamId: string, sessionKey: string): Promise<boolean> {
  const random = streamId.slice(0, streamIdLength - tagLength)
  return streamId.length === streamIdLength && streamId === random + (await tagOf(random, sessionKey))
}

function tagOf(random: string, sessionKey: string): string | Promise<string> {
  const digest = sha256Hex(`x/legacy stream ${random} ${sessionKey}`)
  return typeof digest === 'string' ? digest.slice(0, tagLength) : digest.then((digits) => digits.slice(0, tagLength))
}
