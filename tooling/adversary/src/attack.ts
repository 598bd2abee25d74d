import type { HonestClient } from './honest-client.ts'
import type { Target } from './target.ts'

/** An attack on a process by a peer of type `P`. Each of its parts is optional. */
export interface Attack<P> {
  /** The name on the command line. */
  readonly name: string
  readonly cost?: Cost<P> | undefined
  readonly retained?: Retained<P> | undefined
  /**
   * Does harm beside an honest peer, and throws when the process does something else than it should. `scale` is 1 in
   * the short form.
   */
  readonly run?: ((peer: P, scale: number) => Promise<void>) | undefined
}

/** An input of a size that the attacker chooses, by the CPU time that it costs. */
export interface Cost<P> {
  /** The smaller size; the larger one is twice of it. */
  readonly size: number
  /** Sends the input, and throws when it is not answered as it should be. */
  readonly send: (peer: P, size: number) => Promise<void>
  /** Sends a valid input of the same bytes; given where `send` is rejected. */
  readonly sendValid?: ((peer: P, size: number) => Promise<void>) | undefined
}

/** Memory that stays in the process while the attacker keeps it there, by the size of what was sent. */
export interface Retained<P> {
  readonly size: number
  /** Sends it, and resolves once it is there; it stays until the peer is disposed of. */
  readonly hold: (peer: P, size: number) => Promise<void>
  /** The most bytes that each unit of size may retain, beside what size 0 retains. */
  readonly bytesPerUnit: number
}

/** One of the two sides that are attacked. */
export interface Side<P extends Disposable> {
  /** The built program of the target, relative to this package's `dist`. */
  readonly program: string
  /** Makes a peer of the target, which must not have been used. */
  connect(target: Target): Promise<P>
  /** Starts an honest peer beside an attack. */
  startHonest(target: Target): Promise<HonestClient>
  /** The attacks by their class; those of a class share a process. */
  readonly classes: Readonly<Record<string, readonly Attack<P>[]>>
}
