/** The endpoints of the attacked server, one for each configuration. */
export interface Endpoints {
  readonly shop: string
  /** Another service with the keys of `shop`. */
  readonly neighbor: string
  /** Its request state can be used once. */
  readonly once: string
  /** Its sessions start with the state that `onCreate` returns. */
  readonly sessions: string
  /** Its session states are in a store. */
  readonly stored: string
  /** Its limit per caller is {@link quota} for each resource. */
  readonly quotas: string
  /** It runs at most {@link quota} calls concurrently. */
  readonly busy: string
  /** Its limit of tasks is {@link quota} per caller, and twice as many in total. */
  readonly working: string
  /** It requires access tokens. */
  readonly guarded: string
  /** It serves clients of older revisions. */
  readonly older: string
}

/** The number of values that each store of the server accepts per caller. */
export const storeSize = 50

/** A secret in the message of the error that the tool `leak` throws. */
export const secret = 'hunter2'

/** The limit per caller of each resource at `quotas`. */
export const quota = 4

/** The header with the client address, which a proxy would set. */
export const callerHeader = 'x-caller'

/** The limits of the waiting calls of one caller at `older`, in number and in bytes. */
export const waiting = { calls: 20, bytes: 4 * 1024 * 1024 }

/** The number of proofs per key that `guarded` stores. */
export const maxProofs = 20

/** The resource identifier of the tokens of `guarded`. */
export const guardedResource = 'https://mcp.example.com/mcp'
