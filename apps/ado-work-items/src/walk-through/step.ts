import type { connect, ConnectOptions } from './connect.ts'

/** The dependencies of a step. */
export interface StepScope extends Pick<ConnectOptions, 'url' | 'auth' | 'onInstance'> {
  readonly client: ReturnType<typeof connect>
  readonly signal: AbortSignal
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

/** Kills an instance, and waits for another one if none is left. Returns the line of the transcript, with its ending. */
export async function killOnPurpose(id: number, scope: StepScope, ending: string): Promise<Line> {
  await scope.killInstance(id)
  if (scope.instances().length === 0) await scope.untilComplete()
  return { mark: '☠', text: `instance ${id} is killed on purpose, with SIGKILL${ending}` }
}

/** A response differs from the expected one. */
class Unexpected extends Error {
  override readonly name = 'Unexpected'
}

/** Throws `Unexpected` unless the condition holds. */
export function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Unexpected(otherwise)
}
