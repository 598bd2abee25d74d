/** The endpoints of the server that is attacked: one for each way to compose it. */
export interface Endpoints {
  readonly shop: string
  /** Another service with the keys of `shop`. */
  readonly neighbor: string
  /** Its request state opens once. */
  readonly once: string
  /** Its sessions begin in the state that `onCreate` returned. */
  readonly sessions: string
  /** Its session states are in a store. */
  readonly stored: string
  /** One caller may have {@link quota} of everything there. */
  readonly quotas: string
  /** It runs {@link quota} calls at once. */
  readonly busy: string
  /** One caller may have {@link quota} tasks there, and all callers twice as many. */
  readonly working: string
  /** It asks for access tokens. */
  readonly guarded: string
  /** It serves clients of older revisions. */
  readonly older: string
}

/** The values that each store of the server takes. */
export const storeSize = 50

/** A secret in the message of an error that the tool `leak` throws. */
export const secret = 'hunter2'

/** The amount of everything that one caller may have at `quotas`. */
export const quota = 4

/** The header in which a client says where it calls from, as a proxy would. */
export const callerHeader = 'x-caller'

/** The older calls of one caller that may wait at `older`, and the bytes that they may keep. */
export const waiting = { calls: 20, bytes: 4 * 1024 * 1024 }

/** The proofs of one key that `guarded` remembers. */
export const maxProofs = 20

/** The address that the tokens of `guarded` are for. */
export const guardedResource = 'https://mcp.example.com/mcp'
