import type { HonestClient } from './honest-client.ts'
import type { Target } from './target.ts'

/** An attack on a process by a peer of type `P`. Each part is optional. */
export interface Attack<P> {
  /** The name on the command line. */
  readonly name: string
  readonly cost?: Cost<P> | undefined
  readonly retained?: Retained<P> | undefined
  /**
   * Attacks the process while an honest peer uses it, and throws if the process behaves wrongly. `scale` is 1 in the
   * short form.
   */
  readonly run?: ((peer: P, scale: number) => Promise<void>) | undefined
}

/** An input whose size the attacker chooses, and whose CPU time is measured. */
export interface Cost<P> {
  /** The smaller size. The larger one is twice this size. */
  readonly size: number
  /** Sends the input, and throws for a wrong response. */
  readonly send: (peer: P, size: number) => Promise<void>
  /** Sends a valid input with the same number of bytes, for comparison with a rejected one. */
  readonly sendValid?: ((peer: P, size: number) => Promise<void>) | undefined
}

/** Memory that the process retains while the attacker keeps its connections open, by the size of the input. */
export interface Retained<P> {
  readonly size: number
  /** Sends the input, and resolves when the process retains it. The process frees it when the peer is disposed. */
  readonly retain: (peer: P, size: number) => Promise<void>
  /** The largest number of bytes per unit of size. The bytes of size 0 are subtracted. */
  readonly bytesPerUnit: number
}

/** One of the two attacked sides: the server or the client. */
export interface Side<P extends Disposable> {
  /** The built program of the target, relative to this package's `dist`. */
  readonly program: string
  /** Creates a new peer of the target. */
  connect(target: Target): Promise<P>
  /** Starts an honest peer that uses the target during an attack. */
  startHonest(target: Target): Promise<HonestClient>
  /** The attacks by class. The attacks of a class share a process. */
  readonly classes: Readonly<Record<string, readonly Attack<P>[]>>
}
