import type { SessionMetadata } from '../session-metadata.ts'
import { SessionError } from '../session-error.ts'

/** What the client knows of a session. */
export class SessionRecord {
  readonly id: string
  #state: string | undefined
  #expiresAt: string | undefined
  #endReason: 'deleted' | 'not_found' | undefined

  constructor({ sessionId, state, expiresAt }: SessionMetadata) {
    this.id = sessionId
    this.#state = state
    this.#expiresAt = expiresAt
  }

  /** When the session ends, in ISO 8601. */
  get expiresAt(): string | undefined {
    return this.#expiresAt
  }

  get hasEnded(): boolean {
    return this.#endReason !== undefined
  }

  /** For a request of the session, with the sealed state of the server's last response. */
  get metadata(): SessionMetadata {
    return { sessionId: this.id, ...(this.#state !== undefined && { state: this.#state }) }
  }

  /** No more requests are sent for the session. The first reason counts. */
  end(reason: 'deleted' | 'not_found'): void {
    this.#endReason ??= reason
  }

  /** If responses overlap, the one that arrives last counts. True if the state has changed. */
  update({ sessionId, state, expiresAt }: SessionMetadata): boolean {
    if (sessionId !== this.id) {
      throw new SessionError(
        'invalid_answer',
        'The server answered with another session than the one that was asked for',
      )
    }
    this.#expiresAt = expiresAt ?? this.#expiresAt
    if (state === undefined || state === this.#state) return false
    this.#state = state
    return true
  }

  rejectIfEnded(): void {
    if (this.#endReason === undefined) return
    const endDescription = this.#endReason === 'deleted' ? 'was deleted here' : 'is no longer known to the server'
    throw new SessionError(this.#endReason, `The session ${endDescription}: create another one with create()`)
  }
}
