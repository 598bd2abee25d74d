import type { Client } from '@x/client'
import type { SessionsClient } from '@x/sessions/client'
import type { TasksClient } from '@x/tasks/client'
import type { HttpAuthorizer } from '@x/transport-http/client'
import type { RoundWatch } from './round-watch.ts'

/** The dependencies of a step. */
export interface StepScope {
  readonly client: Client & { readonly sessions: SessionsClient; readonly rounds: RoundWatch }
  /** The client for calls that may become tasks. */
  readonly tasks: TasksClient
  readonly signal: AbortSignal
  readonly url: string
  /** The login of the user. Undefined for a server without a login. */
  readonly auth: HttpAuthorizer | undefined
  /** Receives the number of an instance that answered a client that the step created. */
  onInstance(id: number): void
  /** The part of resource URIs that names the organization and the project. */
  readonly uriBase: string
  /** Kills the instance with this number, and resolves when it has exited. */
  killInstance(id: number): Promise<void>
  /** The numbers of the instances that serve now. */
  instances(): readonly number[]
  /** Resolves when all instances listen again. */
  untilComplete(): Promise<void>
}

/** A line of the transcript. The mark shows the direction: `→` for sent, `←` for received. */
export type Line = string | { readonly mark: string; readonly text: string }

/** One step of the walk-through. */
export interface Step {
  readonly title: string
  /** The request: the method and its relevant parameters. */
  readonly ask: string
  /**
   * Runs the step and resolves to the lines about the responses. Rejects with `Unexpected` if a response differs from
   * the expected one.
   */
  readonly run: (scope: StepScope) => Promise<readonly Line[]>
}

/** A response differs from the expected one. */
class Unexpected extends Error {
  override readonly name = 'Unexpected'
}

/** Throws `Unexpected` unless the condition holds. */
export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Unexpected(otherwise)
}
