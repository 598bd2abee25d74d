import { randomKey, type StateCodec, sealed } from '@x/state-codec'
import type { ServerSettings } from '../replay/served-request.ts'

/** The reason why a server without keys serves one machine and one process. */
export const localOnly =
  'createServer was given no state, so what a question leaves with the client is sealed with a random key, which no other ' +
  'instance has and a restart forgets: give state: sealedState({ keys: [process.env.STATE_KEY] }), or state: false where no ' +
  'handler asks'

/** A codec for a single process: its key is made when it is first needed, which is when it is said. */
export function randomlyKeyed(warn: ServerSettings['warn']): StateCodec {
  let codec: StateCodec | undefined
  const made = (): StateCodec => {
    if (codec === undefined) {
      codec = sealed({ keys: [randomKey()] })
      warn({ code: 'random-key', message: localOnly })
    }
    return codec
  }
  return { seal: (value, claims) => made().seal(value, claims), open: (token, claims) => made().open(token, claims) }
}
