import type { Client } from '@x/client'
import type { ClientSessions } from '@x/sessions/client'
import type { TaskCalls } from '@x/tasks/client'
import type { HttpAuthorizer } from '@x/transport-http/client'
import type { RoundWatch } from './round-watch.ts'

/** The dependencies of a step. */
export interface StepScope {
  readonly client: Client & { readonly sessions: ClientSessions; readonly rounds: RoundWatch }
  /** The calls of a client that may become tasks. */
  readonly tasks: TaskCalls
  readonly signal: AbortSignal
  readonly url: string
  /** The login of the person who walks through, where the server wants one. */
  readonly auth: HttpAuthorizer | undefined
  /** Receives the number of an instance that answered a client of the step's own. */
  onInstance(id: number): void
  /** The organization and the project, as they stand in resources' URIs. */
  readonly uriBase: string
  /** Ends the instance with this number without warning; resolves when it is gone. */
  killInstance(id: number): Promise<void>
  /** The numbers of the instances that serve now. */
  instances(): readonly number[]
  /** Resolves when every instance serves again. */
  untilComplete(): Promise<void>
}

/** A line of the transcript; one with a mark says what went which way: `→` sent, `←` received. */
export type Line = string | { readonly mark: string; readonly text: string }

/** One thing that the walk-through does. */
export interface Step {
  readonly title: string
  /** The request: the method, and its interesting parameters. */
  readonly ask: string
  /** Resolves to what came back, in lines; throws `Unexpected` when it is not what should come. */
  readonly run: (scope: StepScope) => Promise<readonly Line[]>
}

/** An answer was not what the walk-through expects. */
class Unexpected extends Error {
  override readonly name = 'Unexpected'
}

/** Throws `Unexpected` unless the condition holds. */
export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Unexpected(otherwise)
}
