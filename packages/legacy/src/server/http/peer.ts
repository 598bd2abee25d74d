import type { HttpRequestView } from '@x/exchange'
import type { ClientSettings } from '../session/local-methods.ts'
import type { Session } from '../session/session.ts'

export interface HttpPeer {
  readonly client: ClientSettings['client']
  /** Undefined for a client that sends no session id. It is served, but no question can be sent to it. */
  readonly session: Session | undefined
  readonly view: HttpRequestView
}

/** A client with a session, whose calls can be resumed. */
export type SessionPeer = HttpPeer & { readonly session: Session }
