/** A message from an instance to the process that started it. */
export type InstanceMessage =
  /** It listens. */
  | { readonly kind: 'listening'; readonly pid: number }
  | { readonly kind: 'load'; readonly eventLoopDelayMs: number; readonly running: number; readonly isReady: boolean }
  /** The tool handler of a call starts here, at the number `next`. */
  | { readonly kind: 'begin'; readonly call: string; readonly limit: number; readonly next: number }
  /** The call has counted the numbers from `from` up to, but without, `next`. */
  | { readonly kind: 'work'; readonly call: string; readonly from: number; readonly next: number }
  /** The tool handler of the call has ended here, with a result or a hand-off. */
  | { readonly kind: 'end'; readonly call: string }
  /** The time for which the event loop was busy with a number of paced chunks. */
  | { readonly kind: 'paced'; readonly chunks: number; readonly busyMs: number }

/**
 * A command to an instance. `throttle` blocks it for a share of the time, below 1; `shedding` switches load shedding on
 * or off.
 */
export type InstanceCommand =
  | { readonly kind: 'throttle'; readonly share: number }
  | { readonly kind: 'shedding'; readonly on: boolean }
